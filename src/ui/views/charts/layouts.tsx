/** Named layouts of the charts, kept in this browser: a layout is the settings of the address. */
import { useState } from 'preact/hooks';
import { Menu } from '../../kit/menu';
import { say } from '../../kit/notice';
import { href, route } from '../../store/route';

const storageKey = 'derbench-chart-layouts';
const maxLayouts = 12;

/** Settings of the address by name. */
export type Kept = Readonly<Record<string, string>>;

/** Settings that a layout keeps; the zoom belongs to a moment. */
const settings = ['devices', 'device', 'of', 'group', 'window', 'panels', 'extra'];

/** The kept layouts; none where the storage is empty, unreadable or refused. */
export function readLayouts(): Kept {
  try {
    const content: unknown = JSON.parse(localStorage.getItem(storageKey) ?? '{}');
    const entries = Object.entries(content as object).filter((entry) => typeof entry[1] === 'string');
    return Object.fromEntries(entries);
  } catch {
    return {};
  }
}

function write(layouts: Kept): void {
  try {
    localStorage.setItem(storageKey, JSON.stringify(layouts));
  } catch {
    say('The browser does not keep layouts on this page.');
  }
}

function presentLayout(): string {
  const query = new URLSearchParams();
  for (const name of settings) {
    const value = route.value.query.get(name);
    if (value !== null) query.set(name, value);
  }
  return query.toString();
}

const addressOf = (layout: string) =>
  href('charts', { device: null, ...Object.fromEntries(new URLSearchParams(layout)) });

/** Saves the present layout under a name, opens and deletes kept ones. */
export function Layouts() {
  const [layouts, setLayouts] = useState(readLayouts);
  const [name, setName] = useState('');
  const keep = (next: Kept) => {
    write(next);
    setLayouts(next);
  };
  const title = name.trim();
  const isFull = Object.keys(layouts).length >= maxLayouts && !(title in layouts);
  const save = () => {
    keep({ ...layouts, [title]: presentLayout() });
    setName('');
    say(`Layout ${title} saved`);
  };
  const remove = (gone: string) => {
    keep(Object.fromEntries(Object.entries(layouts).filter(([each]) => each !== gone)));
    say(`Layout ${gone} deleted`, () => keep(layouts));
  };
  return (
    <Menu label="Layouts" face="Layouts">
      {() => (
        <div class="stack">
          {Object.entries(layouts).map(([each, layout]) => (
            <div key={each} class="row layout">
              <a href={addressOf(layout)}>{each}</a>
              <button type="button" class="small quiet" aria-label={`Delete ${each}`} onClick={() => remove(each)}>
                Delete
              </button>
            </div>
          ))}
          {Object.keys(layouts).length === 0 && (
            <p class="muted">A layout is the devices, window and panels in view, kept in this browser.</p>
          )}
          <form
            class="row"
            onSubmit={(event) => {
              event.preventDefault();
              if (title !== '' && !isFull) save();
            }}
          >
            <input
              aria-label="Name of the layout"
              placeholder="Name"
              maxLength={40}
              value={name}
              onInput={(event) => setName(event.currentTarget.value)}
            />
            <button disabled={title === '' || isFull}>Save</button>
          </form>
          {isFull && <small class="muted">There are {maxLayouts} layouts: delete one first.</small>}
        </div>
      )}
    </Menu>
  );
}
