import NewsModel

/// When the hub is asked about one send: at ages that grow, each a little later by chance, so that sends of one second do not
/// come in step.
enum PollSchedule {
    /// The ages of the polls. The hub answers 404 until it has begun, and gives up what it could not process in 30 minutes.
    static let ages: [Duration] = [
        .seconds(10), .seconds(30), .seconds(60), .seconds(120), .seconds(300), .seconds(600), .seconds(1_200),
        .seconds(1_860),
    ]
    /// The age at which nobody expects a word any more.
    static let end = Duration.seconds(2_100)
    /// At most so many percent later.
    private static let jitterPercent: UInt64 = 10

    static var last: Int { ages.count }

    /// The age of a poll, the same each time it is asked for.
    /// - Parameter attempt: 1 to `last`.
    static func age(of attempt: Int, _ eventID: String) -> Duration {
        let age = ages[min(max(attempt, 1), last) - 1]
        let share = SendSample.draw(eventID, salt: attempt) % (jitterPercent * 1_000)
        return min(age + age * Int(share) / 100_000, end)
    }

    /// The poll to make next: the latest that is already due, or else the first that comes.
    /// - Parameter done: the last that was made; 0 before the first.
    /// - Returns: `nil` when all are made.
    static func next(after done: Int, age: Duration, _ eventID: String) -> Int? {
        guard done < last else { return nil }
        var attempt = done + 1
        // Most are not due by far, and need no draw.
        while attempt < last, ages[attempt] <= age, Self.age(of: attempt + 1, eventID) <= age { attempt += 1 }
        return attempt
    }
}
