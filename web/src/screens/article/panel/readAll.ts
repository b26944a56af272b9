/** Items that one request asks for: the most that a server allows by default (limit `list.limitMax`). */
export const pageSize = 100;

/** Reads all pages of a list. */
export async function readAll<Page extends { readonly nextToken?: string | undefined }>(
  read: (page: { readonly nextToken?: string }) => Promise<Page>,
): Promise<readonly Page[]> {
  const pages: Page[] = [];
  let nextToken: string | undefined;
  do {
    const page = await read(nextToken === undefined ? {} : { nextToken });
    pages.push(page);
    nextToken = page.nextToken;
  } while (nextToken !== undefined);
  return pages;
}
