"""Files of a study: its facts, fitted models, saved rows and predictions, and exported models.

`files` writes and checks files; `index` is the list of what was saved, and reads the facts;
`model_files` and `combined_file` save and read models; `rows` saves rows and held-out predictions;
`loaded` is a study read back, whose models are the `estimators`; `exports` writes ONNX.
"""
