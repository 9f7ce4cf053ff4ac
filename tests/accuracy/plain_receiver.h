// A receiver for CCID 3 that says no more than has to be said.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "ccid/ccid3/options.h"
#include "dccp/ccid3.h"

namespace dccp::accuracy {

// Feedback of Loss Event Rate and Receive Rate alone, as from Linux: hides the Loss Intervals of a
// receiver of our own, which also does without the Sender RTT Estimate. The interface lets an
// application put its own CCID beside those of the library, and that is what this is.
class PlainReceiver final : public CcidReceiver {
 public:
  explicit PlainReceiver(std::unique_ptr<CcidReceiver> inner) : inner_(std::move(inner)) {
    // Loss Event Rate is asked for by the sender, or else not sent.
    inner_->OnFeature(FeatureNumber::kSendLossEventRate, 1, true);
  }

  ReceiverVerdict OnPackets(const ArrivedRun& run) override { return inner_->OnPackets(run); }
  void OnBuildAck(const BuildInfo& info, OptionWriter& options) override;
  std::size_t AckOptionBytes() const override { return inner_->AckOptionBytes(); }
  void OnAckOfAck(bool everything, TimePoint now) override { inner_->OnAckOfAck(everything, now); }
  TimePoint NextTimeout() const override { return inner_->NextTimeout(); }
  AckDemand OnTimeout(TimePoint now) override { return inner_->OnTimeout(now); }
  void OnPathInfo(const PathInfo& path, TimePoint now) override { inner_->OnPathInfo(path, now); }
  void OnFeature(FeatureNumber feature, std::uint64_t value, bool located_here) override {
    inner_->OnFeature(feature, value, located_here);
  }
  bool PeerQuiescent(TimePoint now) const override { return inner_->PeerQuiescent(now); }
  ReceiverStats Stats() const override { return inner_->Stats(); }

 private:
  std::unique_ptr<CcidReceiver> inner_;
};

class PlainReceiverFactory final : public CcidFactory {
 public:
  PlainReceiverFactory();
  const CcidTraits& traits() const override { return traits_; }
  std::unique_ptr<CcidSender> NewSender(const CcidInit& init) const override {
    return inner_.NewSender(init);
  }
  std::unique_ptr<CcidReceiver> NewReceiver(const CcidInit& init) const override {
    return std::make_unique<PlainReceiver>(inner_.NewReceiver(init));
  }

 private:
  Ccid3Factory inner_;
  CcidTraits traits_;
};

class PlainReceiverCcids {
 public:
  PlainReceiverCcids() { static_cast<void>(registry_.Add(factory_)); }
  PlainReceiverCcids(const PlainReceiverCcids&) = delete;
  PlainReceiverCcids& operator=(const PlainReceiverCcids&) = delete;
  const CcidRegistry& registry() const { return registry_; }

 private:
  PlainReceiverFactory factory_;
  CcidRegistry registry_;
};

}  // namespace dccp::accuracy
