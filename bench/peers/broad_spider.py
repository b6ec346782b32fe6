"""A broad crawl with Scrapy, with the settings that its manual advises for one (Topics, Broad Crawls)."""

import scrapy
from scrapy.linkextractors import LinkExtractor


class BroadSpider(scrapy.Spider):
    """Follows every link to every site: `-a seeds=FILE`."""

    name = "broad"
    custom_settings = {
        "ROBOTSTXT_OBEY": True,
        "SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.DownloaderAwarePriorityQueue",
        "CONCURRENT_REQUESTS": 100,
        "REACTOR_THREADPOOL_MAXSIZE": 20,
        "LOG_LEVEL": "INFO",
        "COOKIES_ENABLED": False,
        "RETRY_ENABLED": False,
        "DOWNLOAD_TIMEOUT": 15,
        # Breadth first, which keeps the queue in memory small.
        "DEPTH_PRIORITY": 1,
        "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
        "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
        "TELNETCONSOLE_ENABLED": False,
    }
    links = LinkExtractor()

    def start_requests(self):
        with open(self.seeds, encoding="utf-8") as file:
            for line in file:
                yield scrapy.Request(line.strip())

    def parse(self, response):
        """One item per page: CLOSESPIDER_PAGECOUNT would count every robots.txt as a page."""
        yield {"url": response.url, "title": response.css("title::text").get()}
        for link in self.links.extract_links(response):
            yield scrapy.Request(link.url)
