import NewsModel
import PublishEngine

/// G9: what an engine holds is bounded by its settings, and nothing is left in it when everything is done.
struct MemoryBounds: Checker {
    let promise = Promise.memoryBounds
    private var largest = 0
    private var last: [Address: Moment] = [:]

    mutating func see(_ fact: Fact, _ books: Books) -> String? {
        switch fact {
        case .published(let item): largest = max(largest, books.life.news[item].record.byteCount)
        case .acted(let address, let moment):
            last[address] = moment
            return excess(moment, books)
        case .over(let isSettled):
            guard isSettled else { return nil }
            for (address, moment) in last.sorted(by: { $0.key.process < $1.key.process })
            where books.tenures.contains(where: { $0.address == address && $0.end == nil }) {
                if let rest = rest(moment) { return "when all was done, process \(address.process) still had \(rest)" }
            }
        default: break
        }
        return nil
    }

    private func excess(_ moment: Moment, _ books: Books) -> String? {
        let settings = books.life.setting.engine
        let census = moment.census
        var held = 0
        for (lane, vitals) in zip(settings.lanes, moment.vitals.lanes) {
            held += vitals.held
            if vitals.held > lane.window.records {
                return "lane \(lane.name) holds \(vitals.held) records of \(lane.window.records)"
            }
            // The last record of a grant may overdraw its bytes.
            let most = lane.window.bytes + largest
            if vitals.heldBytes > most {
                return "lane \(lane.name) holds \(vitals.heldBytes) bytes of \(lane.window.bytes)"
            }
            if vitals.held < 0 || vitals.heldBytes < 0 { return "lane \(lane.name) holds less than nothing" }
        }
        let deliveries = held * settings.platforms.count
        if census.flights > settings.connections {
            return "\(census.flights) requests for \(settings.connections) connections"
        }
        if census.unexamined > held { return "\(census.unexamined) records wait to be examined, \(held) are held" }
        if census.lines > deliveries { return "\(census.lines) story lines for \(deliveries) deliveries" }
        let slack = 2 * deliveries + 64 * settings.lanes.count
        if census.ready > slack { return "\(census.ready) places in the queues for \(deliveries) deliveries" }
        if census.parked > slack { return "\(census.parked) places in the waiting room for \(deliveries) deliveries" }
        let window = settings.lanes.map(\.window.records).max() ?? 0
        let partitions = moment.vitals.lanes.reduce(0) { $0 + $1.partitions }
        if census.records > 4 * window * max(partitions, 1) { return "\(census.records) records behind the watermarks" }
        return nil
    }

    private func rest(_ moment: Moment) -> String? {
        let census = moment.census
        if census.flights > 0 { return "\(census.flights) requests under way" }
        if census.lines > 0 { return "\(census.lines) story lines" }
        if census.unexamined > 0 { return "\(census.unexamined) unexamined records" }
        if census.ready > 0 { return "\(census.ready) places in the queues" }
        if census.records > 0 { return "\(census.records) records" }
        if moment.vitals.lanes.contains(where: { $0.held != 0 || $0.heldBytes != 0 }) { return "a window in use" }
        return nil
    }
}
