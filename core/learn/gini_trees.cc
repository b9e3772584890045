#include "criterion/gini.h"
#include "learn/grow_classes.h"

namespace arboleda {

const ClassTrees kGiniTrees = kClassTrees<Gini>;

}  // namespace arboleda
