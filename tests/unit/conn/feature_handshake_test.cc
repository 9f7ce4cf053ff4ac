// Whole handshakes between two negotiators with the needs of CCIDs 2 and 3. RFC 4340 §6, §8.1, §10
#include "tests/unit/conn/feature_test_util.h"

namespace dccp {
namespace {

using namespace feature_test;  // NOLINT(google-build-using-namespace)

struct Outcome {
  std::optional<ResetReason> reset;
  int exchanges = 0;  // Request-Response rounds
};

// A client and a server, and a network that loses packets by a bit pattern, oldest packet first.
class HandshakePair {
 public:
  explicit HandshakePair(unsigned losses) : losses_(losses) {
    for (FeatureNegotiator* n : {&client, &server}) {
      EXPECT_TRUE(n->RegisterCcid(CcidId::k2, kCcid2Needs));
      EXPECT_TRUE(n->RegisterCcid(CcidId::k3, kCcid3Needs));
    }
  }

  // Request until a Response arrives, Acks until one arrives, then both are OPEN and exchange
  // whatever is left.
  Outcome Run() {
    Outcome outcome;
    client.Start(S(0));
    server.Start(R(0));
    server.OnPeerInitial(S(0));
    client.OnPeerInitial(R(0));
    while (!client_got_response_) {
      ++outcome.exchanges;
      if ((outcome.reset = Send(client, PacketType::kRequest))) return outcome;
      if (server_seen_ == 0) continue;
      if ((outcome.reset = Send(server, PacketType::kResponse))) return outcome;
    }
    while (!server_open_) {
      if ((outcome.reset = Send(client, PacketType::kAck))) return outcome;
    }
    server.SetOpen(now_);
    if ((outcome.reset = Send(server, PacketType::kAck))) return outcome;
    client.SetOpen(now_);
    for (int i = 0; i < 40 && !(client.AllStable() && server.AllStable()); ++i) {
      now_ += seconds(1);
      for (FeatureNegotiator* n : {&client, &server}) {
        n->HandleTimeout(now_);
        if ((outcome.reset = Send(*n, PacketType::kAck))) return outcome;
      }
    }
    return outcome;
  }

  FeatureNegotiator client{Role::kClient};
  FeatureNegotiator server{Role::kServer};

 private:
  std::optional<ResetReason> Send(FeatureNegotiator& from, PacketType type) {
    const bool by_client = &from == &client;
    now_ += milliseconds(10);
    std::array<std::byte, 200> buffer;
    OptionWriter writer(buffer);
    const Seq64 seq = by_client ? S(client_sent_++) : R(server_sent_++);
    const Seq64 peer = by_client ? R(client_seen_ - 1) : S(server_seen_ - 1);
    const auto ack = HasAckNumber(type) ? std::optional(peer) : std::nullopt;
    from.WriteOptions({type, seq, ack, now_}, writer);
    const bool lost = (losses_ & 1) != 0;
    losses_ >>= 1;
    if (lost) return std::nullopt;
    if (by_client) {
      server_seen_ = client_sent_;
      server_open_ = type == PacketType::kAck;
    } else {
      client_seen_ = server_sent_;
      client_got_response_ = true;
    }
    return Feed(by_client ? server : client, {type, seq, ack}, writer.bytes());
  }

  unsigned losses_;
  TimePoint now_ = At(seconds(1));
  std::int64_t client_sent_ = 0;
  std::int64_t server_sent_ = 0;
  std::int64_t client_seen_ = 0;
  std::int64_t server_seen_ = 0;
  bool client_got_response_ = false;
  bool server_open_ = false;
};

void ExpectNeeds(const HandshakePair& pair, Located ccid_at_client) {
  const auto of = [&pair](FeatureNumber feature, Located at_client) {
    EXPECT_EQ(pair.client.value(feature, at_client),
              pair.server.value(feature, Opposite(at_client)));
    return pair.client.value(feature, at_client);
  };
  const Located sender = ccid_at_client;
  const Located receiver = Opposite(ccid_at_client);
  if (of(kCcid, sender) == 2) {
    EXPECT_EQ(of(kSendAckVector, receiver), 1u);
  } else {
    EXPECT_EQ(of(kSendNdpCount, sender), 1u);
    EXPECT_EQ(of(kSendLossEventRate, receiver), 1u);
    EXPECT_EQ(of(kSendAckVector, receiver), 0u);
  }
}

const PreferenceList kLists[] = {{}, {2}, {3}, {2, 3}, {3, 2}};

void Configure(FeatureNegotiator& n, Located at, const PreferenceList& list, bool propose) {
  if (list.empty()) return;
  EXPECT_TRUE(n.Configure({kCcid, at, list, 0, false, propose}).ok());
}

// What an empty list stands for: all registered CCIDs, in order.
PreferenceList Meaning(const PreferenceList& list) {
  return list.empty() ? PreferenceList{2, 3} : list;
}

TEST(FeatureHandshake, R4340_LNX_05_CcidsAndTheirNeedsAreSettledUnderEveryLoss) {
  for (const PreferenceList& client_list : kLists) {
    for (const PreferenceList& server_list : kLists) {
      for (unsigned losses = 0; losses < 32; ++losses) {
        for (bool propose : {true, false}) {
          HandshakePair pair(losses);
          for (Located at : {kLocal, kRemote}) {
            Configure(pair.client, at, client_list, propose);
            Configure(pair.server, at, server_list, false);
          }
          const Outcome outcome = pair.Run();
          SCOPED_TRACE("client " + ToHex(client_list.bytes()) + " server " +
                       ToHex(server_list.bytes()) + " losses " + std::to_string(losses));
          const auto shared =
              Reconcile(Role::kServer, Meaning(server_list).bytes(), Meaning(client_list).bytes());
          if (!shared) {
            ASSERT_TRUE(outcome.reset);
            EXPECT_EQ(outcome.reset->code, ResetCode::kMandatoryError);
            continue;
          }
          ASSERT_EQ(outcome.reset, std::nullopt);
          EXPECT_TRUE(pair.client.AllStable());
          EXPECT_TRUE(pair.server.AllStable());
          for (Located at : {kLocal, kRemote}) {
            ExpectNeeds(pair, at);
            if (!propose || client_list.empty()) continue;
            EXPECT_EQ(pair.client.value(kCcid, at), *shared);
          }
        }
      }
    }
  }
}

TEST(FeatureHandshake, SettlesInOneExchangeWithoutLoss) {
  for (const PreferenceList& list : kLists) {
    HandshakePair pair(0);
    for (Located at : {kLocal, kRemote}) Configure(pair.client, at, list, true);
    ASSERT_TRUE(pair.client.Configure({kSequenceWindow, kLocal, {}, 5000}));
    ASSERT_TRUE(pair.server.Configure({kSequenceWindow, kLocal, {}, 6000}));
    const Outcome outcome = pair.Run();
    EXPECT_EQ(outcome.reset, std::nullopt);
    EXPECT_EQ(outcome.exchanges, 1);
    EXPECT_EQ(pair.server.value(kSequenceWindow, kRemote), 5000u);
    EXPECT_EQ(pair.client.value(kSequenceWindow, kRemote), 6000u);
    EXPECT_TRUE(pair.client.AllStable());
  }
}

}  // namespace
}  // namespace dccp
