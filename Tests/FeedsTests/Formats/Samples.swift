import Feeds

/// Small documents, one of each format.
enum Samples {
    static let rss = """
        <?xml version="1.0" encoding="utf-8"?><!DOCTYPE rss [<!ENTITY x "y">]>
        <rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:media="http://search.yahoo.com/mrss/"
          xmlns:a="http://www.w3.org/2005/Atom" xmlns:content="http://purl.org/rss/1.0/modules/content/"
          xmlns:sy="http://purl.org/rss/1.0/modules/syndication/">
        <channel><title>World &amp;amp; News</title><link>http://news.example/world/</link><language>en_GB</language>
        <a:link rel="self" href="/feed.xml"/><a:link rel="hub" href="https://hub.example/"/><ttl>15</ttl>
        <skipHours><hour>0</hour><hour>24</hour><hour>7</hour></skipHours><skipDays><day>sunday</day></skipDays>
        <sy:updatePeriod>hourly</sy:updatePeriod><sy:updateFrequency>4</sy:updateFrequency>
        <image><title>Logo</title><url>http://news.example/logo.png</url></image>
        <item><media:content url="http://news.example/1.mp4" type="video/mp4"><media:title>A film</media:title>
        <media:thumbnail url="http://news.example/1.jpg"/></media:content><title>AT&amp;amp;T &amp;lt;b&amp;gt; &lt;i&gt;buys&lt;/i&gt; AT&T</title>
        <guid isPermaLink="false">urn:1</guid><link>1.html</link><pubDate>Mon, 02 Jan 2006 15:04:05 GMT</pubDate>
        <description><![CDATA[<p>First&nbsp;one.</p>]]></description><dc:creator>Jane Doe</dc:creator><dc:language>de</dc:language>
        <category domain="http://cv.iptc.org/newscodes/mediatopic/">20000574</category><category>Politik</category></item>
        <item><guid>http://news.example/2</guid><content:encoded>&lt;p&gt; &lt;/p&gt;&lt;p&gt;Only text.&lt;/p&gt;&lt;p&gt;More.&lt;/p&gt;</content:encoded>
        <category>medtop:11000000</category><author>jane@example.org (Jane)</author><dc:date>not a date</dc:date></item>
        </channel></rss>
        """
    static let rdf = """
        <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/">
        <channel rdf:about="http://news.example/"><title>R</title></channel>
        <item rdf:about="http://news.example/1"><title>One</title></item></rdf:RDF>
        """
    static let atom = """
        <feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en" xml:base="http://news.example/a/"
          xmlns:at="http://purl.org/atompub/tombstones/1.0" xmlns:app="http://www.w3.org/2007/app"><title>A</title>
        <link rel="self" href="feed"/><link rel="hub" href="https://hub.example/"/>
        <entry xml:base="b/"><id>urn:1</id><title type="html">&lt;b&gt;5 &amp;lt; 6&lt;/b&gt;</title><updated>2026-01-02T00:00:00Z</updated>
        <published>2026-01-01T00:00:00Z</published><link rel="enclosure" type="image/png" href="p.png"/><link href="one"/>
        <category term="x" label="X" scheme="http://s.example/"/><author><name>Jo</name></author>
        <summary type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">A <b>b</b> &amp; c</div></summary></entry>
        <entry xml:lang="fr"><id>http://news.example/2</id><title>&lt;b&gt; is a tag</title><updated>2026-01-03T00:00:00Z</updated>
        <content src="x.mp4" type="video/mp4"/></entry>
        <entry><id>urn:3</id><title>Draft</title><app:control><app:draft>yes</app:draft></app:control></entry>
        <at:deleted-entry ref="urn:4" when="2026-01-04T00:00:00Z"/></feed>
        """
    static let jsonFeed = """
        {"version":"https://jsonfeed.org/version/1.1","title":"J","language":"en","feed_url":"http://news.example/j.json",
        "hubs":[{"type":"WebSub","url":"https://hub.example/"},{"type":"rssCloud","url":"https://c.example/"}],
        "items":[{"id":7,"title":"<b> & co","content_text":"x < y","url":"http://news.example/7","tags":["A","medtop:15000000"],
        "date_published":"2026-01-01T00:00:00Z","image":"7.png","authors":[{"name":"Jo"}]},{"id":"8","content_html":"<p>Only HTML</p>"}]}
        """
    static let rssJSON = """
        {"rss":{"channel":{"title":"R","item":[{"title":"One &amp; two","link":"http://news.example/1",
        "guid":{"isPermaLink":"false","#value":"urn:1"},"pubDate":"Mon, 02 Jan 2006 15:04:05 GMT","category":"X"}]}}}
        """

    static let all = [rss, rdf, atom, jsonFeed, rssJSON]

    static func read(_ text: String) throws(NotAFeed) -> FeedDocument { try read(Array(text.utf8)) }

    static func read(_ bytes: [UInt8]) throws(NotAFeed) -> FeedDocument {
        try FeedReader.read(bytes, from: DocumentSource(address: "http://news.example/feeds/world.xml"))
    }
}
