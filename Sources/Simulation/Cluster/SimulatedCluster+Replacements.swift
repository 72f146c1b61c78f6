import EditorialControl
import KafkaModel
import NewsModel
import NotificationHub
import PublishEngine

/// A desk that replaces a recalled story on phones, as `newswire recall --replace` does after its recall.
extension SimulatedCluster {
    /// Writes the replacement if the recall is still in force. A command that cannot read or write its topics fails.
    mutating func replaceStory(_ index: Int) {
        let given = scenario.orders[index]
        guard case .recall(let story) = given.scope, transactions.isEmpty, !isControlAway,
            let order = truth.control.standing(given.scope), order.id == given.id
        else { return }
        var replacement = Replacement(story: story, at: now)
        for (delivery, result) in truth.results(of: story) {
            guard let record = truth.resultRecord(of: delivery, result) else { continue }
            replacement.apply(record)
        }
        // Its number is above those of all news, and below those of copies.
        let serial = Self.firstReplacement + given.number
        // Languages have no tags here, so there is one record.
        guard let record = replacement.records(Marker.text(serial) + " withdrawn", for: order).first,
            let number = record.partition
        else { return }
        let partition = TopicPartition(topic: record.topic, partition: number)
        guard truth.sources[partition] != nil, exists(partition), unavailability(of: partition) == nil,
            let lane = setting.lane(of: record.topic)
        else { return }
        let platforms = record.headers.first { $0.name == HeaderName.platform }?.text.map(Platform.list) ?? []
        var source = SourceRecord(offset: 0, timestamp: now.asTimestamp, key: record.key, value: record.value)
        source.headers = record.headers
        let item = truth.add(
            NewsItem(
                serial: serial, at: now - Scenario.start, lane: lane, topic: record.topic, keyHash: Int(number),
                gapBefore: 0, gapAfter: 0, kind: .usable,
                copy: .replacement(of: order.id, platforms),
                eventID: Replacement.idPrefix + order.id, categories: replacement.reach.filter { !$0.contains(":") },
                interests: replacement.reach.filter { $0.contains(":") }, story: story,
                expiresAt: now + Replacement.lasts, record: source))
        truth.publish(item, in: number)
        reopen()
        strike(.replaced)
        self.record(.replaced(item: item))
        for process in processes.indices { wakePoll(process) }
    }

    private static let firstReplacement = 900_000

    private var isControlAway: Bool { activeFaults.contains { scenario.faults[$0].kind == .controlAway } }
}

extension GroundTruth {
    /// The results of the story's news that are on the results topic, by item.
    func results(of story: String) -> [(delivery: Int, result: StoredResult)] {
        news.indices.filter { news[$0].story == story }.flatMap { item in
            (0..<platforms).flatMap { platform in
                let delivery = delivery(item: item, platform: platform)
                return resultsOf[delivery].filter(isKept).map { (delivery, $0) }
            }
        }
    }

    fileprivate func resultRecord(of delivery: Int, _ result: StoredResult) -> ResultRecord? {
        let news = news(of: delivery)
        guard let place = places[item(of: delivery)] else { return nil }
        return ResultRecord(
            eventID: news.eventID, story: news.story, platform: platform(of: delivery), outcome: result.outcome,
            categories: news.categories, lane: scenario.setting.lanes[news.lane].name,
            source: .init(partition: place.partition, offset: place.offset), settledAt: Scenario.start + news.at,
            interests: news.interests, sends: result.sends)
    }
}

extension ControlLog {
    /// The order of the scope that a reader of the whole topic finds in force.
    func standing(_ scope: ControlScope) -> Order? {
        var orders = StandingOrders()
        for row in rows {
            switch row.meaning {
            case .stands(let order) where order.scope == scope: orders.apply(.stands(order))
            case .lifted(scope): orders.apply(.lifted(scope))
            case .lapsed(scope, let id, let until) where orders[scope]?.ends(withLapseOf: id, until: until) == true:
                orders.apply(.lifted(scope))
            default: break
            }
        }
        return orders[scope]
    }
}
