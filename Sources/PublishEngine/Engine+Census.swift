import HeapModule

/// How much an engine keeps, for the simulation's bounds.
package struct Census: Sendable, Hashable {
    package var flights: Int
    package var lines: Int
    package var unexamined: Int
    /// What no longer stands for a delivery included.
    package var ready: Int
    package var parked: Int
    package var records: Int
    package var restored: Int
}

extension Engine {
    package var census: Census {
        Census(
            flights: flights.count, lines: lines.count, unexamined: lanes.reduce(0) { $0 + $1.unexamined.count },
            ready: lanes.reduce(0) { $0 + $1.ready.count }, parked: lanes.reduce(0) { $0 + $1.parked.count },
            records: partitions.reduce(0) { $0 + $1.entries.count },
            restored: partitions.reduce(0) { $0 + $1.restored.count })
    }
}
