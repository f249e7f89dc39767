/** A protocol with its parts as tabs, and what the tabs of each protocol share. */
import { PageTabs } from '../../kit/tabs';
import type { Tab } from '../../kit/tabs';
import { route } from '../../store/route';

/** A tab of a protocol. */
export interface Part extends Tab {
  /** its own form switches the protocol on */
  readonly switchesOn?: true;
}

export interface Page {
  readonly path: string;
  readonly title: string;
  readonly parts: readonly Part[];
  /** part that is shown first while the protocol is off */
  readonly whenOff: string;
}

/** The part of the address, otherwise the first. @param isOff the protocol is switched off */
export function partOf({ parts, whenOff }: Page, isOff: boolean): Part | undefined {
  const [, , name = isOff ? whenOff : undefined] = route.value.path;
  return parts.find(({ path }) => path === name) ?? parts[0];
}

interface PartsProps {
  readonly page: Page;
  readonly part: Tab | undefined;
}

/** The tabs of a protocol, and the chosen part. */
export function Parts({ page, part }: PartsProps) {
  const Content = part?.component;
  return (
    <>
      <PageTabs label={`Parts of ${page.title}`} base={`protocols/${page.path}`} tabs={page.parts} chosen={part} />
      <div class="view" key={part?.path}>
        {Content && <Content />}
      </div>
    </>
  );
}
