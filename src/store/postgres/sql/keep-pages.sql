-- Writes settled pages, in their order: objects with the columns of a page, the site as its id.
CREATE FUNCTION @crawl.keep_pages(_member int, _pages json) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO @crawl.page (member, @page_fields)
    SELECT _member, @page_fields FROM json_populate_recordset(NULL::@crawl.page, _pages);
END $$;
