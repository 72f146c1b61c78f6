/// What is running.
public enum ServiceVersion {
    public static let text = "0.1.0"
}
