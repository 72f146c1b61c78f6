/// The schedule of polls for one send. The intervals grow, and each poll has a random delay, so that sends of the same
/// second are not polled together.
enum PollSchedule {
    /// The ages of the polls. The hub answers 404 until it has begun, and drops what it could not process in 30
    /// minutes.
    static let ages: [Duration] = [
        .seconds(10), .seconds(30), .seconds(60), .seconds(120), .seconds(300), .seconds(600), .seconds(1_200),
        .seconds(1_860),
    ]
    /// The age at which polling ends.
    static let end = Duration.seconds(2_100)
    /// The largest random delay, in per cent.
    private static let jitterPercent: UInt64 = 10

    static var last: Int { ages.count }

    /// The age of a poll. Repeated calls return the same value.
    /// - Parameter attempt: 1 to `last`.
    static func age(of attempt: Int, _ eventID: String) -> Duration {
        let age = ages[min(max(attempt, 1), last) - 1]
        let share = SendSample.draw(eventID, salt: attempt) % (jitterPercent * 1_000)
        return min(age + age * Int(share) / 100_000, end)
    }

    /// The next poll: the latest one that is already due, otherwise the first upcoming one.
    /// - Parameter done: the last poll that was made; 0 before the first.
    /// - Returns: `nil` if all polls were made.
    static func next(after done: Int, age: Duration, _ eventID: String) -> Int? {
        guard done < last else { return nil }
        var attempt = done + 1
        // Most polls are due much later and need no random number.
        while attempt < last, ages[attempt] <= age, Self.age(of: attempt + 1, eventID) <= age { attempt += 1 }
        return attempt
    }
}
