import { expect } from 'chai';
import { render } from 'preact';
import { Table } from '../../../src/ui/kit/table';
import type { Column } from '../../../src/ui/kit/table';
import { notice } from '../../../src/ui/kit/notice';
import { all, leave, one, press, show, textOf } from '../support/page.tsx';
import { settle } from '../support/settle.ts';

interface Row {
  readonly id: number;
  readonly name: string | null;
  readonly power: number | null;
}

const rows: readonly Row[] = [
  { id: 1, name: 'unit 10', power: 5 },
  { id: 2, name: 'unit 9', power: null },
  { id: 3, name: null, power: -20 },
  { id: 4, name: 'say "hi", all\nof you', power: 100 },
];

const columns: readonly Column<Row>[] = [
  { title: 'Name', cell: ({ name }) => name ?? '–', value: ({ name }) => name, width: '8em' },
  { title: 'Power, kW', cell: ({ power }) => power ?? '–', value: ({ power }) => power, numeric: true },
  { title: 'Link', cell: ({ id }) => <a href={`#/${id}`}>{id}</a> },
];

type Options = Partial<Parameters<typeof Table<Row>>[0]>;
const table = (options: Options = {}) => (
  <Table name="Units" columns={columns} rows={rows} keyOf={({ id }) => id} {...options} />
);
const links = () => all('td a').map((each) => Number(each.textContent));
const sortBy = async (title: string) => {
  all('.sort')
    .find((each) => each.textContent.startsWith(title))
    ?.click();
  await settle();
};

describe('table', () => {
  afterEach(leave);

  it('keeps the order of its rows until it is sorted', async () => {
    await show(table());
    expect(links()).to.deep.equal([1, 2, 3, 4]);
    expect(all('th').map((each) => each.getAttribute('aria-sort'))).to.deep.equal(['none', 'none', null]);
  });

  it('sorts up, down and not at all, with values that are not there last at first', async () => {
    await show(table());
    await sortBy('Power');
    expect(links()).to.deep.equal([3, 1, 4, 2]);
    expect(all('th')[1]?.getAttribute('aria-sort')).to.equal('ascending');
    await sortBy('Power');
    expect(links()).to.deep.equal([2, 4, 1, 3]);
    expect(all('th')[1]?.getAttribute('aria-sort')).to.equal('descending');
    await sortBy('Power');
    expect(links()).to.deep.equal([1, 2, 3, 4]);
  });

  it('sorts numbers in texts by their value', async () => {
    await show(table());
    await sortBy('Name');
    expect(links()).to.deep.equal([4, 2, 1, 3]);
  });

  it('copies as CSV what it shows in the order that it shows, without columns that are no value', async () => {
    await show(table());
    await sortBy('Power');
    await press('Copy Units as CSV');
    expect(await navigator.clipboard.readText()).to.equal(
      ['Name,"Power, kW"', ',-20', 'unit 10,5', '"say ""hi"", all\nof you",100', 'unit 9,'].join('\n'),
    );
    expect(notice.value?.text).to.equal('CSV copied');
  });

  it('says where the browser gives no clipboard', async () => {
    const { clipboard } = navigator;
    Object.defineProperty(navigator, 'clipboard', { configurable: true, value: undefined });
    await show(table());
    await press('Copy Units as CSV');
    Object.defineProperty(navigator, 'clipboard', { configurable: true, value: clipboard });
    expect(notice.value?.text).to.equal('The browser allows copying on https and localhost pages only.');
  });

  it('says that there is nothing', async () => {
    await show(table({ rows: [] }));
    expect(textOf('.empty')).to.equal('Nothing yet.');
    await show(table({ rows: [], empty: 'No unit.' }));
    expect(textOf('.empty')).to.equal('No unit.');
  });

  it('chooses a row by a click and by Enter, not by a link in it', async () => {
    const chosen: number[] = [];
    await show(table({ selected: 2, onSelect: ({ id }) => chosen.push(id) }));
    expect(all('tr[aria-selected=true] a').map((each) => each.textContent)).to.deep.equal(['2']);
    const enter = () => new KeyboardEvent('keydown', { key: 'Enter', bubbles: true });
    one('tbody tr').click();
    all('tbody tr')[2]?.dispatchEvent(enter());
    one('tbody tr a').dispatchEvent(enter());
    all('tbody tr')[2]?.dispatchEvent(new KeyboardEvent('keydown', { key: 'x', bubbles: true }));
    expect(chosen).to.deep.equal([1, 3]);
  });

  const many = Array.from({ length: 1000 }, (_none, id) => ({ id, name: null, power: id }));

  it('draws the rows in sight and a few more, and keeps the height of the others', async () => {
    await show(table({ rows: many, height: 280 }));
    expect(links()[0]).to.equal(0);
    expect(links().at(-1)).to.equal(17);
    const spaces = () => all('tr[aria-hidden]').map((each) => each.style.height);
    expect(spaces()).to.deep.equal([`${(1000 - 18) * 28}px`]);
    const box = one('.scroller');
    box.scrollTop = 280 * 28;
    box.dispatchEvent(new Event('scroll'));
    await settle();
    expect([links()[0], links().at(-1)]).to.deep.equal([272, 297]);
    expect(spaces()).to.deep.equal([`${272 * 28}px`, `${(1000 - 298) * 28}px`]);
    expect(one('table').getAttribute('aria-rowcount')).to.equal('1000');
  });

  it('scrolls to the row that the address chooses, once, and not for a row in sight', async () => {
    const choosing = (selected: number, among = many) => table({ rows: among, height: 280, selected });
    const page = await show(choosing(600));
    const box = one('.scroller');
    expect(box.scrollTop).to.equal(600 * 28);
    const draw = async (next: ReturnType<typeof choosing>) => {
      render(next, page);
      await settle();
    };
    box.scrollTop = 0;
    await draw(choosing(600, [...many]));
    expect(box.scrollTop).to.equal(0);
    await draw(choosing(8));
    expect(box.scrollTop).to.equal(0);
    await draw(choosing(9));
    expect(box.scrollTop).to.equal(9 * 28);
  });

  it('keeps the end in sight while it follows', async () => {
    Object.defineProperty(HTMLElement.prototype, 'scrollHeight', { configurable: true, value: 28_000 });
    await show(table({ rows: many, height: 280, follow: true }));
    const { scrollTop } = one('.scroller');
    Reflect.deleteProperty(HTMLElement.prototype, 'scrollHeight');
    expect(scrollTop).to.equal(28_000);
  });
});
