import ByteText

/// The current day's figures in a hub's description. Days are in UTC.
struct DailyFigures: Sendable {
    private(set) var devicesMax = 0
    private(set) var registrationsMax = 0
    private(set) var calls = 0
    private var day: Int64?

    init(day: Int64? = nil) { self.day = day }

    mutating func countCall(_ registrations: RegistrationTable, at now: HubTime) {
        note(registrations, at: now)
        calls += 1
    }

    /// Raises the day's maxima to the current numbers of devices and registrations.
    mutating func note(_ registrations: RegistrationTable, at now: HubTime) {
        let today = now.seconds.flooredQuotientAndRemainder(dividingBy: 86_400).quotient
        if day != today { self = DailyFigures(day: today) }
        devicesMax = max(devicesMax, registrations.deviceCount)
        registrationsMax = max(registrationsMax, registrations.count)
    }

    /// The members of the description as recorded from the service, in the order in which .NET reads them.
    var members: [(name: String, value: Int)] {
        [
            ("DailyMaxActiveDevices", devicesMax), ("DailyMaxActiveRegistrations", registrationsMax),
            ("DailyApiCalls", calls),
        ]
    }
}

extension EmulatedHub {
    func dailyFigures(at now: HubTime) -> DailyFigures {
        var figures = daily
        figures.note(registrations, at: now)
        return figures
    }
}
