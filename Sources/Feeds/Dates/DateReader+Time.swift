import ByteText

extension DateReader {
    mutating func readTime() -> Bool {
        // A sign that touches its digits begins the zone of a date without a time: `20080219+0100`.
        if !(isYearFirst && isZone) { skipSeparators() }
        var isAfternoon: Bool?
        if case .word(let word)? = tokens.peek() {
            switch word {
            case "t", "at", "um", "à", "alle", "kl":
                tokens.advance()
                if case .number(let number, let digits)? = tokens.peek(), digits == 4 || digits == 6, !isTime() {
                    tokens.advance()
                    if digits == 6 { second = number % 100 }
                    let minutes = digits == 6 ? number / 100 : number
                    (hour, minute) = (minutes / 100, minutes % 100)
                    return readFraction()
                }
            case "오전", "오후":
                (isKorean, isAfternoon) = (true, word == "오후")
                tokens.advance()
            default: break
            }
        }
        guard isTime() else { return true }
        guard let hours = tokens.number(1...2), tokens.skip(":"), let minutes = tokens.number(1...2) else {
            return false
        }
        (hour, minute) = (hours.value, minutes.value)
        if tokens.skip(":") {
            guard let seconds = tokens.number(1...2) else { return false }
            second = seconds.value
        }
        return readFraction() && readHalfOfDay(isAfternoon)
    }

    private mutating func readFraction() -> Bool {
        guard tokens.isMark(".") || tokens.isMark(","), !tokens.isAfterSpace(1),
            case .number(var fraction, let digits)? = tokens.peek(1)
        else { return true }
        tokens.advance()
        tokens.advance()
        for _ in 0..<max(9 - digits, 0) { fraction *= 10 }
        for _ in 0..<max(digits - 9, 0) { fraction /= 10 }
        nanoseconds = fraction
        return true
    }

    private mutating func readHalfOfDay(_ known: Bool?) -> Bool {
        var isAfternoon = known
        if case .word(let word)? = tokens.peek(), word == "am" || word == "pm" {
            isAfternoon = word == "pm"
            tokens.advance()
        }
        guard let isAfternoon else { return true }
        guard (0...12).contains(hour) else { return known != nil }
        hour = hour % 12 + (isAfternoon ? 12 : 0)
        return true
    }

    // MARK: - Zone and year

    private var isZone: Bool {
        guard tokens.isMark("+") || tokens.isMark("-"), case .number? = tokens.peek(1) else { return false }
        return !tokens.isAfterSpace(1)
    }

    /// Reads the zone and a final year. Numbers override names: `GMT-05:00`, `-0700 GMT`. A parenthesis ends the date.
    mutating func readRest() -> Bool {
        var named: Int?
        // In the database of zones, Etc/GMT+5 is west of Greenwich.
        var isReversed = false
        var isUnknownPlace = false
        while let token = tokens.peek() {
            switch token {
            case .mark(UInt8(ascii: "(")):
                zone = zone ?? named
                return true
            case .mark(UInt8(ascii: "+")), .mark(UInt8(ascii: "-")):
                let isEast = (token == .mark(UInt8(ascii: "+"))) != isReversed
                tokens.advance()
                guard case .number? = tokens.peek() else { continue }
                guard let minutes = offset() else { return false }
                zone = isEast ? minutes : -minutes
            case .number(let number, let digits):
                tokens.advance()
                if year == nil, digits == 4 {
                    year = number
                } else if digits != 4 || number != 0 {
                    return false
                }
            case .word("etc"):
                isReversed = true
                tokens.advance()
            case .word where tokens.isMark("/", 1):
                let place = place()
                region = region ?? ZoneRegion(place)
                isUnknownPlace = isUnknownPlace || region == nil
            case .word(let word):
                named = named ?? ZoneName.minutes(word)
                tokens.advance()
            case .mark: tokens.advance()
            }
        }
        zone = zone ?? named
        // No date is better than a date that is wrong by hours.
        return zone != nil || region != nil || !isUnknownPlace
    }

    /// Reads a place such as `america/argentina/buenos_aires`, in lower case.
    private mutating func place() -> String {
        var place = ""
        while let token = tokens.peek() {
            switch token {
            case .word(let word): place += word
            case .mark(UInt8(ascii: "/")): place += "/"
            case .mark(UInt8(ascii: "_")): place += "_"
            case .mark, .number: return place
            }
            tokens.advance()
            if tokens.isAfterSpace() { return place }
        }
        return place
    }

    /// Reads `hhmm`, `hmm`, `hh` or `hh:mm`. Returns minutes.
    private mutating func offset() -> Int? {
        guard let number = tokens.number(1...4) else { return nil }
        var (hours, minutes) =
            number.digits <= 2 ? (number.value, 0) : number.value.quotientAndRemainder(dividingBy: 100)
        if number.digits <= 2, tokens.skip(":") {
            guard let number = tokens.number(2...2) else { return nil }
            minutes = number.value
        }
        return minutes < 60 ? hours * 60 + minutes : nil
    }
}
