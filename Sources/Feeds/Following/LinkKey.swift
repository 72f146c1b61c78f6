/// The identity of a link: different spellings of one page's address are the same link.
enum LinkKey {
    static func of(_ link: String) -> String { WebAddress(link)?.identityKey ?? link }
}
