// Reports between the tools: a second DCCP connection to the same port, service code DCTL.
//
// The client asks, the server answers, each in one datagram of JSON of at most 512 bytes; a
// question without an answer is repeated. Questions name a data connection by the client's DCCP
// port; it must come from the same address and UDP port as the control connection.
//   {"id":1,"ask":"report","port":50123}
//   {"id":1,"ok":true,"packets":10,"bytes":14200,...}
//   {"id":2,"ask":"send","port":50123,"size":1420,"packets":0,"seconds":10,"bps":0}
//   {"id":2,"ok":false,"why":"reverse runs are not allowed"}
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "apps/common/loop_timer.h"
#include "apps/common/runtime.h"
#include "dccp/endpoint.h"

namespace dccp::apps {

inline constexpr const char* kControlService = "DCTL";
inline constexpr std::size_t kMaxControlBytes = 512;

// The asking end. Once the server refuses, or stops answering, every question fails at once.
class ControlClient {
 public:
  // The answer, or nothing where there is none.
  using Answered = std::function<void(const std::optional<nlohmann::json>&)>;

  ControlClient(Runtime* runtime, const ConnectParams& params);
  ~ControlClient();
  ControlClient(const ControlClient&) = delete;
  ControlClient& operator=(const ControlClient&) = delete;

  // Questions are put one after another. `answered` is called later, never from inside.
  void Ask(nlohmann::json question, Answered answered);
  bool available() const { return state_ != State::kGone; }
  bool Owns(ConnId conn) const { return conn_ && *conn_ == conn; }
  void OnEvent(const Event& event);
  void Close();

 private:
  enum class State { kConnecting, kOpen, kGone };
  struct Question {
    std::string text;
    std::uint64_t id;
    Answered answered;
  };

  void SendFront();
  void OnRetry();
  void OnAnswer(std::span<const std::byte> bytes);
  void FailAll();
  void Later();

  Runtime* runtime_;
  State state_ = State::kConnecting;
  std::optional<ConnId> conn_;
  std::deque<Question> questions_;
  std::uint64_t next_id_ = 1;
  int tries_ = 0;
  LoopTimer retry_;
};

// The answering end: answers everything that waits on a connection. `answer` gets a question and
// the tuple of the control connection that it came over.
void AnswerControl(
    Endpoint* endpoint, ConnId conn,
    const std::function<nlohmann::json(const nlohmann::json&, const FlowTuple&)>& answer);

}  // namespace dccp::apps
