"""Export of models to a page: one HTML file that opens offline and computes predictions.

``_export`` is the entry. ``_graph`` records what the walk of `arboleda.onnx_export` adds for each
kind of model, ``_trees`` writes trees as tables, ``_columns`` describes the columns of the form,
``_explanations`` the sums that Shapley values are computed from, ``_scored_models`` converts models
that ONNX export lacks, ``_words`` holds the texts, and ``_html`` the file. The folder ``page``
holds the page's script and style.
"""

from arboleda.page_export._columns import PageColumn as PageColumn
from arboleda.page_export._columns import describe_codes as describe_codes
from arboleda.page_export._columns import describe_numbers as describe_numbers
from arboleda.page_export._explanations import describe_explanation as describe_explanation
from arboleda.page_export._export import convert_coded as convert_coded
from arboleda.page_export._export import describe_refusal as describe_refusal
from arboleda.page_export._export import export_page, to_page
from arboleda.page_export._export import write_output_rules as write_output_rules
from arboleda.page_export._graph import PageGraph as PageGraph
from arboleda.page_export._html import PageContent as PageContent
from arboleda.page_export._html import write_page as write_page
from arboleda.page_export._scored_models import make_converters as make_converters

# Names that are imported `as` themselves serve other packages of arboleda; they are not public.
__all__ = ["export_page", "to_page"]
