#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "tests/support/packet_script.h"

namespace dccp::peer {
namespace {

constexpr Duration kTolerance = std::chrono::milliseconds(1);

std::string Seconds(Duration d) {
  return std::to_string(std::chrono::duration<double>(d).count()) + " s";
}

bool Matches(const ScriptOption& wanted, const WireOption& option) {
  const Octets& data = wanted.option.data;
  return option.type == wanted.option.type && (option.mandatory || !wanted.option.mandatory) &&
         (wanted.any_data ? option.data.size() >= data.size()
                          : option.data.size() == data.size()) &&
         std::equal(data.begin(), data.end(), option.data.begin());
}

void AppendTo(Octets* out, const WireOption& option) {
  if (option.mandatory) out->push_back(static_cast<std::uint8_t>(OptionType::kMandatory));
  out->push_back(static_cast<std::uint8_t>(option.type));
  // Options of types below 32 are a single byte. RFC 4340 §5.8
  if (static_cast<std::uint8_t>(option.type) < 32) return;
  out->push_back(static_cast<std::uint8_t>(option.data.size() + 2));
  out->insert(out->end(), option.data.begin(), option.data.end());
}

template <typename T, typename U>
void Compare(const char* name, const std::optional<T>& wanted, const U& got, std::string* out) {
  if (wanted && !(*wanted == got)) {
    *out += std::string("\n  ") + name + " is " + ::testing::PrintToString(got) + ", not " +
            ::testing::PrintToString(*wanted);
  }
}

}  // namespace

PacketScriptRunner::PacketScriptRunner(const PacketScript& script)
    : script_(script), peer_(script.config), begin_(peer_.now()) {
  const std::optional<SeqNo>& iss = script.config.options.initial_sequence;
  names_["iss"] = iss ? iss->value() : kIss;
  names_["peer"] = kPeerIss;
}

void PacketScriptRunner::Fail(const ScriptStep& step, const std::string& message) const {
  throw ScriptError(script_.file, step.line, message);
}

void PacketScriptRunner::Run() {
  for (const ScriptStep& step : script_.steps) RunStep(step);
  ExpectQuiet(script_.steps.back());
}

void PacketScriptRunner::Collect() {
  for (SentPacket& packet : peer_.Take()) sent_.push_back(std::move(packet));
}

void PacketScriptRunner::PassTime(const ScriptStep& step) {
  const TimePoint until = step.absolute ? begin_ + step.time : peer_.now() + step.time;
  if (until < peer_.now()) Fail(step, "it is " + Seconds(peer_.now() - begin_) + " already");
  if (until > peer_.now()) peer_.Advance(until - peer_.now());
  Collect();
}

void PacketScriptRunner::ExpectQuiet(const ScriptStep& step) {
  if (sent_.empty()) return;
  Fail(step, "the endpoint sent what nothing expects (" + Seconds(sent_[0].time - begin_) +
                 "):" + ::testing::PrintToString(sent_[0]));
}

void PacketScriptRunner::RunStep(const ScriptStep& step) {
  PassTime(step);
  if (step.verb == ScriptVerb::kExpect) return Expect(step);
  if (step.verb == ScriptVerb::kIgnore) return sent_.clear();
  ExpectQuiet(step);
  if (step.verb == ScriptVerb::kInject) {
    Inject(step);
  } else {
    Act(step);
  }
  Collect();
}

void PacketScriptRunner::Act(const ScriptStep& step) {
  switch (step.verb) {
    case ScriptVerb::kExpectNothing:
      peer_.Advance(step.span);
      Collect();
      ExpectQuiet(step);
      break;
    case ScriptVerb::kListen:
      peer_.Listen();
      break;
    case ScriptVerb::kConnect:
      peer_.Connect();
      break;
    case ScriptVerb::kReach:
      Reach(step);
      break;
    case ScriptVerb::kSend:
      if (!peer_.Send(*step.text).ok()) Fail(step, "the endpoint refuses to send");
      break;
    case ScriptVerb::kRead: {
      const std::vector<std::string> wanted =
          step.text ? std::vector{*step.text} : std::vector<std::string>{};
      const std::vector<std::string> got = peer_.Read();
      if (got != wanted) Fail(step, "what waits to be read is " + ::testing::PrintToString(got));
      break;
    }
    case ScriptVerb::kClose:
      if (!peer_.Close().ok()) Fail(step, "the endpoint refuses to close");
      break;
    case ScriptVerb::kAbort:
      if (!peer_.Abort(static_cast<ResetCode>(step.code)).ok())
        Fail(step, "the endpoint refuses to abort");
      break;
    case ScriptVerb::kState:
      if (peer_.state() != step.state)
        Fail(step, std::string("the state is ") + ToString(peer_.state()));
      break;
    case ScriptVerb::kClosed:
      CheckClosed(step);
      break;
    case ScriptVerb::kInject:
    case ScriptVerb::kExpect:
    case ScriptVerb::kIgnore:
      break;
  }
}

void PacketScriptRunner::CheckClosed(const ScriptStep& step) {
  const State state = peer_.Info().state;
  if (state != State::kClosed && state != State::kTimeWait)
    Fail(step, std::string("the connection is not over but in ") + ToString(state));
  if (peer_.Info().close.clean != step.clean)
    Fail(step, step.clean ? "the end was not clean" : "the end was clean");
}

void PacketScriptRunner::Reach(const ScriptStep& step) {
  const bool server = step.role == Role::kServer;
  if (step.state == State::kRequest && !server) {
    peer_.ClientInRequest();
  } else if (step.state == State::kPartOpen && !server) {
    peer_.ClientInPartOpen();
  } else if (step.state == State::kRespond && server) {
    peer_.ServerInRespond();
  } else if (step.state == State::kOpen) {
    server ? peer_.OpenAsServer() : peer_.OpenAsClient();
  } else {
    Fail(step, "reach knows REQUEST, PARTOPEN, RESPOND, OPEN client and OPEN server");
  }
  names_["sent"] = peer_.gss();
  names_["last"] = peer_.PeekNext() - 1;
}

std::uint64_t PacketScriptRunner::Resolve(const ScriptStep& step, const ScriptNumber& n) const {
  if (n.name.empty()) return static_cast<std::uint64_t>(n.offset);
  const auto it = names_.find(n.name);
  std::uint64_t base = 0;
  if (n.name == "next") {
    base = peer_.PeekNext();
  } else if (n.name == "gss") {
    base = peer_.gss();
  } else if (it != names_.end()) {
    base = it->second;
  } else {
    Fail(step, "no number has the name '" + n.name + "' yet");
  }
  return (base + static_cast<std::uint64_t>(n.offset)) & ((std::uint64_t{1} << 48) - 1);
}

void PacketScriptRunner::Inject(const ScriptStep& step) {
  const ScriptPacket& in = step.packet;
  PacketSpec spec = Make(in.type, in.seq ? Resolve(step, *in.seq) : peer_.Next());
  if (HasAckNumber(in.type)) spec.ack = in.ack ? Resolve(step, *in.ack) : peer_.gss();
  spec.extended = !in.short_numbers;
  spec.ccval = in.ccval.value_or(0);
  spec.cscov = in.cscov.value_or(0);
  spec.ecn = in.ecn.value_or(Ecn::kNotEct);
  spec.payload = in.payload.value_or("");
  spec.service_code = in.service.value_or(script_.config.service_codes.front().value());
  spec.reset.code = static_cast<ResetCode>(in.code.value_or(0));
  if (in.reason) std::copy(in.reason->begin(), in.reason->end(), spec.reset.data.begin());
  for (const ScriptOption& option : in.options) {
    if (option.absent || option.any_data) Fail(step, "! and ... are for expected packets");
    if (!option.confirm_all) {
      AppendTo(&spec.options, option.option);
      continue;
    }
    if (!last_expected_) Fail(step, "confirm all: no packet has been expected yet");
    const Octets confirms = ConfirmsFor(*last_expected_);
    spec.options.insert(spec.options.end(), confirms.begin(), confirms.end());
  }
  names_["last"] = spec.seq;
  if (!in.label.empty()) names_[in.label] = spec.seq;
  peer_.Inject(spec);
}

void PacketScriptRunner::Expect(const ScriptStep& step) {
  if (sent_.empty())
    Fail(step,
         std::string("nothing was sent where a ") + ToString(step.packet.type) + " is expected");
  SentPacket packet = sent_.front();
  sent_.erase(sent_.begin());
  const std::string differences = Differences(step, packet);
  if (!differences.empty())
    Fail(step, "the packet is not the expected one:" + differences + "\nIt is" +
                   ::testing::PrintToString(packet));
  names_["sent"] = packet.seq;
  if (!step.packet.label.empty()) names_[step.packet.label] = packet.seq;
  last_expected_ = std::move(packet);
}

std::string PacketScriptRunner::Differences(const ScriptStep& step, const SentPacket& got) const {
  const ScriptPacket& wanted = step.packet;
  if (got.type != wanted.type)
    return std::string("\n  the type is ") + ToString(got.type) + ", not " + ToString(wanted.type);
  std::string out;
  const Duration late = peer_.now() - got.time;
  if (late > kTolerance)
    out += "\n  it was sent at " + Seconds(got.time - begin_) + ", not at " +
           Seconds(peer_.now() - begin_);
  if (wanted.seq) Compare("seq", std::optional(Resolve(step, *wanted.seq)), got.seq, &out);
  if (wanted.ack)
    Compare("ack", std::optional(Resolve(step, *wanted.ack)), got.ack.value_or(0), &out);
  Compare("service", wanted.service, got.service_code, &out);
  Compare("code", wanted.code, static_cast<std::uint8_t>(got.reset.code), &out);
  Compare("reason", wanted.reason, Octets(got.reset.data.begin(), got.reset.data.end()), &out);
  Compare("payload", wanted.payload, got.payload, &out);
  Compare("ccval", wanted.ccval, got.ccval, &out);
  Compare("cscov", wanted.cscov, got.cscov, &out);
  if (wanted.ecn && *wanted.ecn != got.ecn)
    out += std::string("\n  ecn is ") + ToString(got.ecn) + ", not " + ToString(*wanted.ecn);
  if (wanted.short_numbers == got.extended)
    out += got.extended ? "\n  its numbers are long" : "\n  its numbers are short";
  return out + OptionDifferences(step, got);
}

std::string PacketScriptRunner::OptionDifferences(const ScriptStep& step,
                                                  const SentPacket& packet) const {
  std::string out;
  for (const ScriptOption& wanted : step.packet.options) {
    if (wanted.confirm_all) Fail(step, "confirm all is for injected packets");
    const bool found = std::any_of(packet.options.begin(), packet.options.end(),
                                   [&](const WireOption& o) { return Matches(wanted, o); });
    if (found == wanted.absent) {
      out += std::string("\n  ") + (found ? "must not have " : "lacks ") +
             ::testing::PrintToString(wanted.option);
    }
  }
  return out;
}

}  // namespace dccp::peer
