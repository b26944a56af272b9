/** Items that one request asks for: the most that a server allows by default (limit `list.limitMax`). */
const pageSize = 100;

interface PageRequest {
  readonly limit: number;
  readonly nextToken?: string;
}

/** Reads all pages of a list. */
export async function readAll<Page extends { readonly nextToken?: string | undefined }>(
  read: (request: PageRequest) => Promise<Page>,
): Promise<readonly Page[]> {
  const pages: Page[] = [];
  let nextToken: string | undefined;
  do {
    const page = await read({ limit: pageSize, ...(nextToken === undefined ? {} : { nextToken }) });
    pages.push(page);
    nextToken = page.nextToken;
  } while (nextToken !== undefined);
  return pages;
}
