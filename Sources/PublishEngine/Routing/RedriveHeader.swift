/// The headers of a record that was put back on its lane.
public enum RedriveHeader {
    /// The one platform it is for: the others were settled the first time.
    public static let platform = "nw-platform"
}
