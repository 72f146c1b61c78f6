import java.io.*;
import java.net.URI;
import java.net.http.*;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.Base64;
import javax.net.ssl.*;

/** Makes the calls of http2_calls.py with the client of Java's own library. */
class HTTP2Calls {
    public static void main(String[] arguments) throws Exception {
        HttpClient client = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_2).sslContext(trusting(arguments[0])).build();
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = lines.readLine()) != null; ) {
            String[] call = line.split("\t", -1);
            HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(call[1]))
                .method(call[0], HttpRequest.BodyPublishers.ofByteArray(Base64.getDecoder().decode(call[3])));
            for (String header : call[2].split("\\|")) {
                request.header(header.substring(0, header.indexOf(':')), header.substring(header.indexOf(':') + 1));
            }
            HttpResponse<String> answer = client.send(request.build(), HttpResponse.BodyHandlers.ofString());
            System.out.println(
                (answer.version() == HttpClient.Version.HTTP_2 ? "HTTP/2 " : "other ") + answer.statusCode());
        }
    }

    private static SSLContext trusting(String certificate) throws Exception {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        try (InputStream file = new FileInputStream(certificate)) {
            store.setCertificateEntry("hub", CertificateFactory.getInstance("X.509").generateCertificate(file));
        }
        TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
        trust.init(store);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        return context;
    }
}
