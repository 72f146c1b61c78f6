/// A version of the hub's interface. Later ones compare greater.
struct APIVersion: Sendable, Hashable, Comparable {
    var name: String

    static let known = [
        "2013-04", "2013-08", "2013-10", "2014-01", "2014-09", "2015-01", "2015-04", "2015-08", "2016-07", "2017-04",
        "2020-06",
    ]

    /// The first version to answer 429 when it throttles; older ones answer 403.
    static let statusOfThrottling = APIVersion(known: "2020-06")

    private init(known name: String) { self.name = name }

    /// What the request asks for; the oldest when it does not say.
    init(of target: HubTarget) throws(Refusal) {
        guard let asked = target["api-version"], !asked.isEmpty else {
            name = "2013-04"
            return
        }
        guard Self.known.contains(asked) else {
            throw .badRequest(
                "The api-version '\(asked.prefix(20))' is not supported. Supported versions: "
                    + Self.known.joined(separator: ","))
        }
        name = asked
    }

    static func < (lhs: APIVersion, rhs: APIVersion) -> Bool { lhs.name < rhs.name }
}
