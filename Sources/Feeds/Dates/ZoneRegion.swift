import ByteText

/// The time of a place, named as in the database of time zones. It has only places whose clocks have followed one of a
/// few rules since 2007 at the latest.
struct ZoneRegion: Equatable {
    /// Minutes east of UTC in winter.
    private let standard: Int
    private let summer: Summer

    private enum Summer {
        case none
        /// From the last Sunday of March to the last Sunday of October, at 01:00 UTC.
        case european
        /// From the second Sunday of March to the first Sunday of November, at 02:00 local time.
        case american
    }

    /// - Parameter name: in lower case.
    /// - Returns: `nil` for an unknown place.
    init?(_ name: String) {
        for (summer, zones) in Self.places {
            for (minutes, names) in zones where names.contains(name) {
                self.init(standard: minutes, summer: summer)
                return
            }
        }
        return nil
    }

    private init(standard: Int, summer: Summer) {
        self.standard = standard
        self.summer = summer
    }

    /// Returns the minutes east of UTC.
    /// - Parameter local: local time, in seconds since 1970.
    func minutes(at local: Int64) -> Int {
        let year = CivilTime(secondsSince1970: local).date.year
        switch summer {
        case .none: return standard
        case .european:
            let utc = local - Int64(standard) * 60
            let begins = Self.sunday(of: 3, year, from: 25) + 3_600
            let ends = Self.sunday(of: 10, year, from: 25) + 3_600
            // The hour that occurs twice on the clock is read as summer time.
            return begins <= utc && utc < ends + 3_600 ? standard + 60 : standard
        case .american:
            let begins = Self.sunday(of: 3, year, from: 8) + 7_200
            let ends = Self.sunday(of: 11, year, from: 1) + 7_200
            return begins <= local && local < ends ? standard + 60 : standard
        }
    }

    /// Returns midnight of the first Sunday on or after a day, in seconds since 1970.
    private static func sunday(of month: Int, _ year: Int, from day: Int) -> Int64 {
        guard let date = CivilDate(year: year, month: month, day: day),
            let time = CivilTime(date, hour: 0, minute: 0, second: 0)
        else { return 0 }
        let days = time.secondsSince1970 / 86_400
        // 1970-01-01 was a Thursday.
        let weekday = (days + 4) % 7
        return (days + (7 - weekday) % 7) * 86_400
    }

    private static let places: [(Summer, [Int: Set<String>])] = [
        (
            .european,
            [
                0: ["europe/london", "europe/dublin", "europe/lisbon", "europe/belfast"],
                60: [
                    "europe/berlin", "europe/paris", "europe/madrid", "europe/rome", "europe/vienna", "europe/zurich",
                    "europe/brussels", "europe/amsterdam", "europe/copenhagen", "europe/stockholm", "europe/oslo",
                    "europe/prague", "europe/budapest", "europe/warsaw", "europe/luxembourg", "europe/monaco",
                    "europe/belgrade", "europe/zagreb", "europe/ljubljana", "europe/bratislava", "europe/sarajevo",
                    "europe/skopje", "europe/tirane", "europe/malta", "europe/vaduz", "europe/andorra",
                ],
                120: [
                    "europe/athens", "europe/helsinki", "europe/sofia", "europe/bucharest", "europe/kiev",
                    "europe/kyiv",
                    "europe/riga", "europe/tallinn", "europe/vilnius",
                ],
            ]
        ),
        (
            .american,
            [
                -240: ["america/halifax"],
                -300: ["america/new_york", "america/toronto", "america/detroit", "america/montreal", "us/eastern"],
                -360: ["america/chicago", "america/winnipeg", "us/central"],
                -420: ["america/denver", "america/edmonton", "us/mountain"],
                -480: ["america/los_angeles", "america/vancouver", "us/pacific"],
                -540: ["america/anchorage"],
            ]
        ),
        (
            .none,
            [
                -600: ["pacific/honolulu"], -420: ["america/phoenix"], -300: ["america/bogota", "america/lima"],
                -240: ["america/caracas", "america/la_paz"],
                -180: ["america/argentina/buenos_aires", "america/buenos_aires"],
                0: ["africa/accra", "atlantic/reykjavik"], 60: ["africa/lagos", "africa/algiers"],
                120: ["africa/johannesburg"], 180: ["africa/nairobi", "asia/riyadh", "asia/baghdad"],
                240: ["asia/dubai"], 300: ["asia/karachi", "asia/tashkent"], 330: ["asia/kolkata", "asia/calcutta"],
                345: ["asia/kathmandu"], 360: ["asia/dhaka"],
                420: ["asia/bangkok", "asia/jakarta", "asia/ho_chi_minh"],
                480: [
                    "asia/shanghai", "asia/hong_kong", "asia/singapore", "asia/taipei", "asia/manila",
                    "asia/kuala_lumpur", "australia/perth",
                ],
                540: ["asia/tokyo", "asia/seoul"], 600: ["australia/brisbane"],
            ]
        ),
    ]
}
