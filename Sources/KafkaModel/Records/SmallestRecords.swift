internal import NewsModel

/// The form of a result that the broker refused as too large: no carried headers, only the members that
/// `schemas/news-result.schema.json` requires. Key and our own headers stay, because the ledger uses them.
public func smallestResult(_ record: ProducedRecord) -> ProducedRecord {
    var smallest = record
    smallest.headers = record.headers.filter {
        SmallestRecords.ofResults.contains($0.name)
            || $0.name == HeaderName.story && $0.byteCount <= SmallestRecords.headerBytesMax
    }
    guard let value = record.value, let result = try? ResultRecord(decoding: value) else { return smallest }
    var least = ResultRecord(
        eventID: result.eventID, platform: result.platform, outcome: result.outcome, lane: result.lane,
        attempts: result.attempts, httpStatus: result.httpStatus, source: result.source, settledAt: result.settledAt,
        error: result.error.map { .init(code: $0.code, detail: "The full result was larger than the broker accepts.") })
    least.afterRecall = result.afterRecall
    var bytes: [UInt8] = []
    least.encode(into: &bytes)
    smallest.value = bytes
    return smallest
}

/// The form of a dead letter that the broker refused as too large: without the original's value and headers, and with a
/// header that says so. Our own headers name the original's position.
public func smallestDeadLetter(_ record: ProducedRecord) -> ProducedRecord {
    var smallest = record
    smallest.key = record.key.map { Array($0.prefix(SmallestRecords.keyBytesMax)) }
    smallest.value = nil
    smallest.headers = record.headers.filter {
        SmallestRecords.ofDeadLetters.contains($0.name) && $0.byteCount <= SmallestRecords.headerBytesMax
    }
    smallest.headers.append(RecordHeader(HeaderName.truncated, "true"))
    return smallest
}

private enum SmallestRecords {
    static let keyBytesMax = 1_024
    /// Our headers are shorter; a header of that name on the original may be longer.
    static let headerBytesMax = 512
    static let ofResults: Set = [
        HeaderName.source, HeaderName.outcome, HeaderName.group, HeaderName.version, HeaderName.identity,
        HeaderName.owner, HeaderName.redriveOf,
    ]
    static let ofDeadLetters: Set = [
        HeaderName.source, HeaderName.outcome, HeaderName.reason, HeaderName.writtenAt, HeaderName.redrive,
        HeaderName.group,
    ]
}
