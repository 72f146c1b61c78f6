package import EditorialControl

extension OrderRules {
    /// The rules of a configuration, for the command line and for the HTTP API.
    ///
    /// - Parameter lanes: the names of the lanes.
    package init(lanes: [String], _ table: CategoryTable, _ interests: InterestTable = InterestTable()) {
        self.init(
            lanes: lanes, categories: table.categories.map(\.name), aliases: table.aliases,
            kinds: interests.kinds.map(\.name))
    }
}

extension CategoryTable {
    /// The names whose stops hold for a category: its own, its other names and its tag.
    package func stoppingNames(of name: String) -> [String] {
        guard let category = index(named: name).map({ categories[$0] }) else { return [name] }
        return category.allNames + [category.tag]
    }

    /// The categories by their other names, and by the tags that no other category has, in lower case. A name outranks a tag.
    package var aliases: [String: String] {
        var found: [String: String] = [:]
        for (tag, owners) in Dictionary(grouping: categories, by: { Self.fold($0.tag) }) where owners.count == 1 {
            found[tag] = owners[0].name
        }
        for category in categories {
            for name in category.names { found[Self.fold(name)] = category.name }
        }
        return found
    }
}

extension CategoryTable.Category {
    /// Its name and its other names.
    var allNames: [String] { [name] + names }
}
