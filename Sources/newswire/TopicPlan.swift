import PublishEngine

/// The topics a configuration names, what they are for, and how many partitions each must have.
struct TopicPlan: Sendable {
    enum Use: Hashable, Sendable {
        case source(lane: String)
        case results
        case deadLetters

        var name: String {
            switch self {
            case .source(let lane): "lane \(lane)"
            case .results: "results"
            case .deadLetters: "dead letters"
            }
        }
    }

    struct Topic: Hashable, Sendable {
        var name: String
        var use: Use
        /// `nil` when it does not exist.
        var partitions: Int?
        /// What is wrong with it, and what to do.
        var problem: String?
        var remedy = ""
    }

    /// Lanes by urgency, then results, then dead letters.
    private(set) var topics: [Topic]

    /// - Parameter counts: the partitions of every topic that exists.
    init(_ settings: Settings, counts: [String: Int]) {
        topics = settings.lanes.flatMap { lane in
            lane.topics.map { Topic(name: $0, use: .source(lane: lane.name), partitions: counts[$0]) }
        }
        topics.append(Topic(name: settings.resultsTopic, use: .results, partitions: counts[settings.resultsTopic]))
        topics.append(
            Topic(name: settings.deadLettersTopic, use: .deadLetters, partitions: counts[settings.deadLettersTopic]))
        for index in topics.indices { judge(index) }
    }

    private mutating func judge(_ index: Int) {
        let topic = topics[index]
        guard let partitions = topic.partitions else {
            topics[index].problem = "does not exist"
            topics[index].remedy = "create it: newswire topics --config FILE --create"
            return
        }
        switch topic.use {
        case .source(let lane):
            // Partition p of all topics of a lane is read by one process, which keeps their shared ledger.
            let first = topics.first { $0.use == topic.use && $0.partitions != nil }
            if let first, let count = first.partitions, count != partitions {
                topics[index].problem = "has \(partitions) partitions, but \(first.name) of the same lane has \(count)"
                topics[index].remedy = "give all topics of lane \(lane) the same number of partitions"
            }
        case .results:
            // The result of a record from partition p is written to partition p.
            if partitions < most {
                topics[index].problem = "has \(partitions) partitions, but a source topic has \(most)"
                topics[index].remedy = "raise it: kafka-topics.sh --alter --topic \(topic.name) --partitions \(most)"
            }
        case .deadLetters: break
        }
    }

    private var most: Int {
        topics.compactMap { if case .source = $0.use { $0.partitions } else { nil } }.max() ?? 0
    }

    var isSound: Bool { topics.allSatisfy { $0.problem == nil } }

    /// The topics to create, each with its partitions: like the others of its lane, else `partitions`; results and
    /// dead letters like the largest source topic.
    func missing(partitions: Int) -> [(name: String, partitions: Int)] {
        func count(for topic: Topic) -> Int {
            topics.first { $0.use == topic.use && $0.partitions != nil }?.partitions ?? partitions
        }
        let sources = topics.filter { if case .source = $0.use { true } else { false } }
        let largest = sources.map { $0.partitions ?? count(for: $0) }.max() ?? partitions
        return topics.filter { $0.partitions == nil }.map { topic in
            if case .source = topic.use { (topic.name, count(for: topic)) } else { (topic.name, largest) }
        }
    }
}
