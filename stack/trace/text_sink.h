// A trace sink for people.
#pragma once

#include <string>

#include "dccp/trace.h"
#include "stack/trace/byte_writer.h"

namespace dccp {

// One readable line for every event:
//   0.012000000 3.1 > Request seq 4711 SC:fdpz len 32 192.0.2.1 > 192.0.2.2
//   0.024000000 3.1 < Response seq 815 ack 4711 SC:fdpz len 44 192.0.2.2 > 192.0.2.1
//   0.024000000 3.1 REQUEST -> PARTOPEN
// The form is not for programs; it may change. The writer must outlive the sink.
class TextSink final : public TraceSink {
 public:
  explicit TextSink(ByteWriter& writer) : writer_(writer) {}

  void OnPacket(const PacketEvent& event) override;
  void OnDrop(const DropEvent& event) override;
  void OnState(const StateEvent& event) override;
  void OnFeature(const FeatureEvent& event) override;
  void OnCc(const CcEvent& event) override;

 private:
  void Begin(TimePoint time, ConnId conn);
  void End();

  ByteWriter& writer_;
  std::string line_;
};

}  // namespace dccp
