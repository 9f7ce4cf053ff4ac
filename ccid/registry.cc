#include "dccp/ccid.h"

namespace dccp {

bool CcidRegistry::Add(const CcidFactory& factory) {
  if (count_ == kCapacity || Find(factory.traits().id) != nullptr) return false;
  factories_[count_] = &factory;
  ++count_;
  return true;
}

const CcidFactory* CcidRegistry::Find(CcidId id) const {
  for (const CcidFactory* factory : all()) {
    if (factory->traits().id == id) return factory;
  }
  return nullptr;
}

}  // namespace dccp
