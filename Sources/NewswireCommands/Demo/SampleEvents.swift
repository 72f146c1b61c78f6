/// Small made-up stories for the demo, one event per line, over the six categories.
package enum SampleEvents {
    package static let ndjson = #"""
        {"id":"sample-01","headline":"Two island nations agree on a shared fishing calendar","category":"World","urgency":3,"summary":"Boats of both sides will rest in the same weeks.","language":"en","link":"https://news.example/1"}
        {"id":"sample-02","headline":"River level falls below the flood mark in Lower Marren","category":"World","urgency":2,"summary":"Residents may return from noon.","language":"en","headlines":{"fr":"La rivière redescend sous la cote d’alerte à Lower Marren","zh":"下马伦河水位降至警戒线以下"},"link":"https://news.example/2"}
        {"id":"sample-03","headline":"Night train between three capitals runs again after nine years","subjects":["medtop:20000638"],"urgency":5,"language":"en","headlines":{"fr":"Le train de nuit entre trois capitales roule de nouveau après neuf ans","zh":"连接三国首都的夜班列车时隔九年恢复运行"},"link":"https://news.example/3"}
        {"id":"sample-04","headline":"Council votes 31 to 28 for a new harbour bridge","category":"Politics","urgency":2,"summary":"Work begins in spring.","language":"en","link":"https://news.example/4"}
        {"id":"sample-05","headline":"“We will count every ballot twice,” says the election office","category":"politics","urgency":1,"language":"en","link":"https://news.example/5"}
        {"id":"sample-06","headline":"Mayor of Ostrava Hills resigns, deputy takes over","subjects":["medtop:11000000"],"urgency":3,"language":"en","link":"https://news.example/6"}
        {"id":"sample-07","headline":"Central bank keeps its rate at 2.25 %","category":"Business","urgency":1,"summary":"Analysts had expected a cut.","language":"en","headlines":{"fr":"La banque centrale maintient son taux à 2,25 %","zh":"央行将利率维持在2.25%"},"link":"https://news.example/7"}
        {"id":"sample-08","headline":"Baker & Sons opens its hundredth shop","category":"Business","urgency":6,"language":"en","link":"https://news.example/8"}
        {"id":"sample-09","headline":"Grid operator and chip maker share one power plant","categories":["Business","Technology"],"urgency":4,"language":"en","link":"https://news.example/9"}
        {"id":"sample-10","headline":"Open map project passes ten million footpaths","category":"Technology","urgency":6,"language":"en","link":"https://news.example/10","data":{"section":"maps"}}
        {"id":"sample-11","headline":"Phone that runs for a week goes on sale <today>","category":"tech","urgency":5,"language":"en","link":"https://news.example/11"}
        {"id":"sample-12","headline":"Harbour cranes learn to wait for porpoises","categories":["Technology","Science"],"urgency":6,"language":"en","link":"https://news.example/12"}
        {"id":"sample-13","headline":"Telescope sees water on a moon of a moon","category":"Science","urgency":3,"summary":"The signal is faint, the team is careful.","language":"en","headlines":{"fr":"Un télescope voit de l’eau sur la lune d’une lune","zh":"望远镜在一颗卫星的卫星上发现水"},"link":"https://news.example/13"}
        {"id":"sample-14","headline":"Seed bank revives a wheat last sown in 1871","category":"Science","urgency":5,"language":"en","link":"https://news.example/14"}
        {"id":"sample-15","headline":"Mathematikerin beweist Vermutung über gefaltete Bänder","category":"Science","urgency":5,"language":"de","link":"https://news.example/15"}
        {"id":"sample-16","headline":"Underdogs win the cup 3:2 in the last minute ⚽","category":"Sports","urgency":1,"summary":"It is their first title.","language":"en","headlines":{"fr":"L’outsider remporte la coupe 3-2 à la dernière minute ⚽","zh":"弱旅在最后一分钟以3比2夺冠 ⚽"},"link":"https://news.example/16"}
        {"id":"sample-17","headline":"Marathon record falls by eleven seconds","category":"Sports","urgency":2,"language":"en","link":"https://news.example/17"}
        {"id":"sample-18","headline":"大会、雪のため一日延期","category":"sport","urgency":4,"language":"ja","link":"https://news.example/18"}
        """#
}
