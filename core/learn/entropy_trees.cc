#include "criterion/entropy.h"
#include "learn/grow_classes.h"

namespace arboleda {

const ClassTrees kEntropyTrees = kClassTrees<Entropy>;

}  // namespace arboleda
