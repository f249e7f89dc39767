/** Views with parts as tabs: the path of the address names the part. */
import type { ComponentChildren, ComponentType } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { href, route } from '../store/route';

export interface Tab {
  readonly path: string;
  readonly title: string;
  readonly component: ComponentType;
  readonly badge?: ComponentType;
}

/** The tab that a part of the path names; default: the first. */
export function tabAt<T extends Tab>(tabs: readonly T[], part: string | undefined): T | undefined {
  return tabs.find(({ path }) => path === part) ?? tabs[0];
}

interface PageTabsProps {
  readonly label: string;
  /** path of the view, such as `devices/3` */
  readonly base: string;
  readonly tabs: readonly Tab[];
  readonly chosen: Tab | undefined;
}

/** Tabs in one line that scrolls; the chosen one is in sight, with the ends of its neighbours. */
export function PageTabs({ label, base, tabs, chosen }: PageTabsProps) {
  const box = useRef<HTMLElement>(null);
  useEffect(() => {
    const tab = box.current?.querySelector<HTMLElement>('[aria-current]');
    if (!box.current || !tab) return;
    // scrollIntoView would scroll the page as well
    const [outer, inner] = [box.current.getBoundingClientRect(), tab.getBoundingClientRect()];
    box.current.scrollLeft += inner.left + inner.width / 2 - (outer.left + outer.width / 2);
  }, [chosen?.path]);
  return (
    <nav class="tabs" aria-label={label} ref={box}>
      {tabs.map(({ path, title, badge: Badge }) => (
        <a key={path} href={href(`${base}/${path}`)} aria-current={path === chosen?.path ? 'page' : undefined}>
          {title}
          {Badge && <Badge />}
        </a>
      ))}
    </nav>
  );
}

/** The heading of a view, with what belongs to the whole view at its right. */
export function ViewHead({
  title,
  children,
}: {
  readonly title: ComponentChildren;
  readonly children?: ComponentChildren;
}) {
  return (
    <div class="title">
      <h1>{title}</h1>
      {children}
    </div>
  );
}

interface TabbedViewProps {
  readonly title: string;
  /** first part of the address */
  readonly path: string;
  readonly tabs: readonly Tab[];
  readonly children?: ComponentChildren;
}

/** A view of tabs: heading, tabs, the chosen part. */
export function TabbedView({ title, path, tabs, children }: TabbedViewProps) {
  const tab = tabAt(tabs, route.value.path[1]);
  const Part = tab?.component;
  return (
    <>
      <ViewHead title={title}>{children}</ViewHead>
      <PageTabs label={title} base={path} tabs={tabs} chosen={tab} />
      <div class="view" key={tab?.path}>
        {Part && <Part />}
      </div>
    </>
  );
}
