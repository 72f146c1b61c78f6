import NewsModel

/// The log of one run of a process, on a stream whose reader may stop. The process never waits for it; a writer of its own does.
struct SimulatedLog {
    /// Small, so that a life fills the queue.
    static let bytesMax = 400

    private var queue = LogQueue(bytesMax: bytesMax)
    /// The batch that the writer has taken from the queue: the number of its lines, and of the lines dropped after them.
    private var batch: (lines: Int, dropped: Int)?
    /// True while the writer has work.
    private(set) var isBusy = false
    private(set) var offered = 0
    private(set) var written = 0
    /// Number of lost lines that a written line reports.
    private(set) var reported = 0
    private(set) var largestBytes = 0

    /// - Returns: `false` if the line is dropped.
    mutating func append(_ line: String) -> Bool {
        offered += 1
        isBusy = true
        defer { largestBytes = max(largestBytes, queue.bytes) }
        return queue.append(line)
    }

    /// Number of lost lines that the writer reports after the lines which it has taken.
    var lost: Int { batch?.dropped ?? 0 }

    /// One turn of the writer while somebody reads the stream.
    mutating func write(reporting lost: Int) {
        if let batch {
            written += batch.lines
            reported += lost
        }
        let (lines, dropped) = queue.takeAll()
        batch = lines.isEmpty ? nil : (lines.count, dropped)
        isBusy = batch != nil
    }
}

extension SimulatedCluster {
    /// Writes a line to the process's log.
    mutating func log(_ line: String, _ address: Address) {
        let wasBusy = processes[address.process].log.isBusy
        if !processes[address.process].log.append(line) { strike(.blockedLog) }
        if !wasBusy { agenda.add(.writeLog(address), at: now + .milliseconds(1)) }
    }

    mutating func writeLog(_ address: Address) {
        let isBlocked = activeFaults.contains { scenario.faults[$0].kind == .blockedLog(process: address.process) }
        if !isBlocked { writeLog(address.process) }
        guard processes[address.process].log.isBusy else { return }
        agenda.add(.writeLog(address), at: now + .milliseconds(isBlocked ? 200 : 1))
    }

    private mutating func writeLog(_ index: Int) {
        var lost = processes[index].log.lost
        interference?.alter(lost: &lost)
        processes[index].log.write(reporting: lost)
    }

    /// Records what became of the lines, once the writers of the living processes have nothing left to do.
    mutating func finishLogs() {
        for index in processes.indices where processes[index].engine != nil {
            while processes[index].log.isBusy { writeLog(index) }
            record(.logged(Address(process: index, run: processes[index].run), processes[index].log))
        }
    }
}
