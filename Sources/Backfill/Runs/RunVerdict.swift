import ByteText
package import NewsModel

/// The findings of a run's verification.
package struct RunVerdict: Sendable, Hashable {
    /// The number of some deliveries, and the names of the first.
    package struct Finding: Sendable, Hashable {
        package var count = 0
        /// The names, each with an event and its place; at most `RunLedger.namesMax`.
        package var names: [String] = []

        package init(count: Int = 0, names: [String] = []) { (self.count, self.names) = (count, names) }
    }

    package var figures: RunFigures
    /// Deliveries without a result.
    package var missing = Finding()
    /// Deliveries of events that wait on the held topic.
    package var held = Finding()
    /// Deliveries that the hub took for more than one record.
    package var doubled = Finding()
    /// Deliveries that were repeated because a publisher crashed while they were in flight.
    package var repeated = Finding()
    /// Deliveries that were repeated without a crash.
    package var unexplained = Finding()
    /// The number of published events that the lanes' topics do not have, or hide in an open transaction.
    package var unread = 0
    /// The first offsets of partitions that have lost their first records, among which events of the run may have been.
    package var firstOffsets: [TopicPartition: Int64] = [:]
    /// The number of events beyond those that can be followed.
    package var ignored = 0
    /// True if an open transaction hides results.
    package var areResultsHidden = false
    /// True if the verification was stopped before its end.
    package var isInterrupted = false

    package init(figures: RunFigures) { self.figures = figures }

    /// True if every delivery has its result, and the hub received no delivery more often than a crash explains.
    package var isSound: Bool {
        missing.count == 0 && held.count == 0 && doubled.count == 0 && unexplained.count == 0 && unread == 0
            && ignored == 0 && !isInterrupted
    }

    /// The findings as lines for people.
    package func lines(of run: String) -> [String] {
        var lines: [String] = []
        func tell(_ finding: Finding, _ what: String) {
            guard finding.count > 0 else { return }
            lines.append("\(counted(finding.count, "delivery", plural: "deliveries")) \(what)")
            lines += finding.names.map { "  \($0)" }
            if finding.count > finding.names.count, !finding.names.isEmpty {
                lines.append("  and \(grouped(finding.count - finding.names.count)) more")
            }
        }
        if unread > 0 {
            lines.append(
                "\(grouped(unread)) of \(counted(figures.published + ignored + unread, "published event")) cannot be read on the lanes' topics: deleted, or hidden by an open transaction"
            )
        }
        tell(missing, "missing: without a result")
        tell(held, "missing: the events are held until their time (newswire held)")
        tell(doubled, "doubled: the hub took them, or may have, for more than one record of the same event")
        tell(
            repeated,
            "repeated within what a crash allows: the publisher ended while the request was on its way, and made it again"
        )
        tell(
            unexplained,
            "repeated without a crash: the hub took them, or may have, more than once from one owner of the partition")
        if ignored > 0 {
            lines.append(
                "\(counted(ignored, "event")) not followed: a run of more than \(grouped(RunLedger.recordsMax)) is too large to verify"
            )
        }
        if let copies = figures.outcomes[.duplicate] {
            lines.append(
                "\(counted(copies, "delivery", plural: "deliveries")) settled as duplicate: the event was on the topic already, and was not sent again"
            )
        }
        if let first = firstOffsets.min(by: { $0.key < $1.key }) {
            let others = firstOffsets.count - 1
            lines.append(
                "note: records before offset \(first.value) of \(first.key) are gone"
                    + (others > 0 ? ", as on \(counted(others, "other partition"))" : "")
                    + ": a loss there cannot be seen")
        }
        let end =
            if isInterrupted { "interrupted before the end" } else if isSound {
                "nothing missing, nothing doubled"
            } else { "not as it should be" }
        lines.append(
            "run \(run): \(counted(figures.published, "event")) published, \(counted(figures.settled, "delivery", plural: "deliveries")) settled: \(end)"
        )
        return lines
    }
}
