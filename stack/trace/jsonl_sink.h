// A trace sink that writes JSON lines.
#pragma once

#include <string>

#include "dccp/trace.h"
#include "stack/trace/byte_writer.h"

namespace dccp {

// One JSON object a line for every event, with the members "event" (packet, drop, state, feature or
// cc), "time" in seconds on the driver's clock, and "conn" ("index.generation" or null). Members
// are added in later versions, never renamed. The writer must outlive the sink.
class JsonlSink final : public TraceSink {
 public:
  explicit JsonlSink(ByteWriter& writer) : writer_(writer) {}

  void OnPacket(const PacketEvent& event) override;
  void OnDrop(const DropEvent& event) override;
  void OnState(const StateEvent& event) override;
  void OnFeature(const FeatureEvent& event) override;
  void OnCc(const CcEvent& event) override;

 private:
  void Begin(const char* name, TimePoint time, ConnId conn);
  void End();

  ByteWriter& writer_;
  std::string line_;
};

}  // namespace dccp
