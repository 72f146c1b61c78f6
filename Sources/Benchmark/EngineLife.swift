import KafkaModel
import NewsModel
import NotificationHub
import PublishEngine

/// The engine alone: records come in batches, every request is answered with 201, every result is stored.
enum EngineLife {
    static let batch = 64
    /// More than the engine remembers, so that no event is a duplicate.
    private static let records = (0..<8192).map(News.record)

    static func run(events: Int) {
        guard var life = try? Life() else { return }
        life.assign()
        var number = 0
        while number < events {
            life.publish(number..<min(number + batch, events))
            number += batch
        }
    }

    private struct Life {
        private var engine: Engine
        private var actions: [Action] = []
        private var now = Instant(nanoseconds: 1_790_000_000_000_000_000)
        private var resultOffset: Int64 = 0
        private let lane = LaneID(0)
        private let generation = Generation(1)
        private let partition = TopicPartition(topic: "news.events", partition: 0)

        init() throws {
            engine = Engine(
                settings: EngineSettings(
                    lanes: [LaneSettings(name: "live", topics: ["news.events"])], platforms: [.template],
                    resultsTopic: "news.results"),
                rules: try ContentRules(), seed: 1)
        }

        mutating func assign() {
            receive(.assigned(lane, generation, [partition]))
            let end = RestoreEnd(offset: 0, start: 0, basis: .committed)
            let results = TopicPartition(topic: "news.results", partition: 0)
            receive(.restored(lane, generation, results: results, entries: [], end: end))
        }

        /// Processes one batch, from its records to the commit.
        mutating func publish(_ numbers: Range<Int>) {
            let batch = numbers.map { number in
                var record = EngineLife.records[number % EngineLife.records.count]
                record.offset = Int64(number)
                return record
            }
            receive(.records(lane, generation, partition, batch))
            var wave = actions
            while !wave.isEmpty {
                var replies: [SettledRequest] = []
                var stored: [StoredRecord] = []
                for action in wave {
                    switch action {
                    case .send(let id, let request):
                        keep(request)
                        replies.append(SettledRequest(id: id, result: .replied(HubReply(status: 201))))
                    case .store(let request):
                        stored.append(StoredRecord(delivery: request.delivery, kind: .result, offset: resultOffset))
                        resultOffset += 1
                    default: break
                    }
                }
                wave = []
                if !replies.isEmpty {
                    receive(.replies(replies))
                    wave += actions
                }
                if !stored.isEmpty {
                    receive(.stored(stored))
                    wave += actions
                }
            }
            receive(.committed(lane, generation, offsets: [], failure: nil))
        }

        private mutating func receive(_ event: KafkaEvent) { receive(.kafka(event)) }

        private mutating func receive(_ input: Input) {
            actions.removeAll(keepingCapacity: true)
            now = now + .microseconds(100)
            engine.handle(input, at: Moment(steady: now, wall: now), into: &actions)
        }
    }
}
