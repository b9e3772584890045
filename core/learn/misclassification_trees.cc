#include "criterion/misclassification.h"
#include "learn/grow_classes.h"

namespace arboleda {

const ClassTrees kMisclassificationTrees = kClassTrees<Misclassification>;

}  // namespace arboleda
