/// A rule of a hub or a namespace: a name, one or two keys, and what they open.
public struct AccessRule: Sendable, Hashable {
    public var name: String
    public var primaryKey: AccessKey
    /// The second key lets the first be replaced without a pause.
    public var secondaryKey: AccessKey?
    public var rights: Rights

    public init(name: String, primaryKey: AccessKey, secondaryKey: AccessKey? = nil, rights: Rights) {
        self.name = name
        self.primaryKey = primaryKey
        self.secondaryKey = secondaryKey
        self.rights = rights
    }

    public struct Rights: OptionSet, Sendable, Hashable {
        public let rawValue: UInt8

        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// Register devices.
        public static let listen = Rights(rawValue: 1)
        public static let send = Rights(rawValue: 2)
        /// Read and change what others registered.
        public static let manage = Rights(rawValue: 4)
    }
}
