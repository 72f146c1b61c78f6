import ByteText
import NewsModel

/// Interprets the parts of a date: first the day, then the time, then the zone and possibly a year after it.
struct DateReader {
    var tokens: DateTokens
    var year: Int?
    var month = 1
    var day = 1
    /// True once the day is complete and in the order year, month, day.
    var isYearFirst = false
    /// True for a date in Korean, because Korean feeds give no zone.
    var isKorean = false
    var hour = 0
    var minute = 0
    var second = 0
    var nanoseconds = 0
    var zone: Int?
    /// A zone named by a place, such as `America/New_York`.
    var region: ZoneRegion?

    /// - Parameter text: must have no white space around it.
    init?(_ text: UnsafeBufferPointer<UInt8>) {
        guard let tokens = DateTokens(text) else { return nil }
        self.tokens = tokens
    }

    mutating func read(zoneMinutes: Int) -> FeedDate.Reading? {
        if let instant = unixTime() { return FeedDate.Reading(instant: instant, isMidnight: false) }
        guard readDay(), readTime(), readRest(), let year, let date = CivilDate(year: year, month: month, day: day),
            // 24:00 is midnight at the end of the day.
            hour < 24 || hour == 24 && minute == 0 && second == 0 && nanoseconds == 0,
            let time = CivilTime(date, hour: hour % 24, minute: minute, second: second)
        else { return nil }
        let zone =
            zone ?? region?.minutes(at: time.secondsSince1970) ?? (isKorean && zoneMinutes == 0 ? 9 * 60 : zoneMinutes)
        guard FeedDate.offsets.contains(zone) else { return nil }
        let local = time.secondsSince1970 + (hour == 24 ? 86_400 : 0)
        return FeedDate.Reading(
            instant: Instant(milliseconds: (local - Int64(zone) * 60) * 1_000) + .nanoseconds(nanoseconds),
            isMidnight: local % 86_400 == 0 && nanoseconds == 0)
    }

    /// Reads seconds or milliseconds since 1970. Numbers of twelve and fourteen digits are dates in basic form instead.
    private func unixTime() -> Instant? {
        guard case .number(let number, let digits)? = tokens.peek(), tokens.peek(1) == nil else { return nil }
        switch digits {
        case 9...11: return Instant(milliseconds: Int64(number) * 1_000)
        case 13: return Instant(milliseconds: Int64(number))
        default: return nil
        }
    }

    // MARK: - The day

    private mutating func readDay() -> Bool {
        // Any word counts as the name of the day, unless it is the only word that can be the month.
        if case .word(let word)? = tokens.peek(), hasMonthAhead || MonthName.month(word) == nil {
            tokens.advance()
            skipSeparators()
        }
        if case .word(let word)? = tokens.peek() {
            guard let month = MonthName.month(word) else { return false }
            self.month = month
            tokens.advance()
            skipSeparators()
            return readDayNumber() && readYearBehind()
        }
        guard case .number(_, let digits)? = tokens.peek() else { return false }
        switch digits {
        case 1, 2: return readDayNumber() && readMonthAndYear()
        case 4: return readYearFirst()
        case 8, 12, 14: return readBasic(digits: digits)
        default: return false
        }
    }

    /// True if a later word is a month, because `mar` also means Tuesday in French and Italian.
    private var hasMonthAhead: Bool {
        for ahead in 1...4 {
            if case .word(let word)? = tokens.peek(ahead), MonthName.month(word) != nil { return true }
        }
        return false
    }

    /// Accepts `2nd`, `3.` and `1er` too.
    private mutating func readDayNumber() -> Bool {
        guard !isTime(), let number = tokens.number(1...2) else { return false }
        day = number.value
        if case .word(let word)? = tokens.peek(), !tokens.isAfterSpace(), Self.ordinals.contains(word) {
            tokens.advance()
        }
        return true
    }

    private mutating func readMonthAndYear() -> Bool {
        // Three numbers have the same order all over the world only with dots.
        if tokens.isMark("."), case .number(let month, digits: 1...2)? = tokens.peek(1), tokens.isMark(".", 2),
            case .number(let year, digits: 4)? = tokens.peek(3)
        {
            (self.month, self.year) = (month, year)
            for _ in 0..<4 { tokens.advance() }
            return true
        }
        skipSeparators()
        if case .word(let word)? = tokens.peek(), Self.fillers.contains(word) { tokens.advance() }
        guard let month = tokens.word().flatMap(MonthName.month) else { return false }
        self.month = month
        return readYearBehind()
    }

    /// Reads the year, which may also be at the very end (asctime).
    private mutating func readYearBehind() -> Bool {
        skipSeparators()
        if case .word(let word)? = tokens.peek(), Self.fillers.contains(word) { tokens.advance() }
        guard !isTime() else { return true }
        if let number = tokens.number(2...4) {
            guard number.digits != 3 else { return false }
            year = number.digits == 4 ? number.value : number.value + (number.value < 90 ? 2_000 : 1_900)
        }
        return true
    }

    private mutating func readYearFirst() -> Bool {
        guard let number = tokens.number(4...4) else { return false }
        year = number.value
        isYearFirst = true
        guard skipDateMark() else { return true }
        if let month = tokens.word() {
            guard let month = MonthName.month(month) else { return false }
            self.month = month
        } else if !isTime(), let number = tokens.number(1...3) {
            // `2006-012-31` has an extra zero; `2006-365` is a day of the year.
            guard number.digits < 3 || tokens.isMark("-") else { return readDayOfYear(number.value) }
            month = number.value
        } else {
            return false
        }
        guard skipDateMark(), !isTime() else { return true }
        guard let number = tokens.number(1...2) else { return false }
        day = number.value
        _ = skipDateMark(.day)
        return true
    }

    private mutating func readDayOfYear(_ dayOfYear: Int) -> Bool {
        guard let year, let first = CivilDate(year: year, month: 1, day: 1), dayOfYear >= 1 else { return false }
        let date = CivilDate(daysSince1970: first.daysSince1970 + dayOfYear - 1)
        (month, day) = (date.month, date.day)
        return date.year == year
    }

    /// Reads `YYYYMMDD`, optionally followed by `hhmm` or `hhmmss`.
    private mutating func readBasic(digits: Int) -> Bool {
        guard var number = tokens.number(digits...digits)?.value else { return false }
        let lowest = { (digits: Int) in
            let (quotient, remainder) = number.quotientAndRemainder(dividingBy: digits)
            number = quotient
            return remainder
        }
        if digits == 14 { second = lowest(100) }
        if digits >= 12 { (minute, hour) = (lowest(100), lowest(100)) }
        (day, month, year) = (lowest(100), lowest(100), number)
        isYearFirst = true
        return true
    }

    // MARK: - Separators

    private static let ordinals: Set<String> = ["st", "nd", "rd", "th", "er", "ème", "e"]
    private static let fillers: Set<String> = ["de", "of", "del"]

    mutating func skipSeparators() {
        while tokens.skip(",") || tokens.skip(".") || tokens.skip("-") || tokens.skip("/") {}
    }

    private enum DateMark { case yearOrMonth, day }

    /// Skips a mark between year, month and day. Space is not enough, because a number after it belongs to the time.
    private mutating func skipDateMark(_ place: DateMark = .yearOrMonth) -> Bool {
        switch tokens.peek() {
        case .word("년"), .word("월"), .word("일"):
            isKorean = true
            tokens.advance()
        case .word("年"), .word("月"), .word("日"): tokens.advance()
        case .mark(UInt8(ascii: "-")), .mark(UInt8(ascii: "/")), .mark(UInt8(ascii: ".")):
            // A zone may also follow: `2006-01-05:00`.
            guard place == .yearOrMonth, !isTime(1) else { return false }
            tokens.advance()
        default: return false
        }
        return true
    }

    /// Returns true if a number and a colon follow.
    func isTime(_ ahead: Int = 0) -> Bool {
        guard case .number? = tokens.peek(ahead) else { return false }
        return tokens.isMark(":", ahead + 1)
    }
}
