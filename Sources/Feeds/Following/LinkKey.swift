/// A link as identity: the same page under different spellings of its address is one link.
enum LinkKey {
    static func of(_ link: String) -> String { WebAddress(link)?.identityKey ?? link }
}
