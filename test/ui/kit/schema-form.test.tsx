import { expect } from 'chai';
import { useState } from 'preact/hooks';
import { anyCall } from '../../../src/ui/api/call';
import { RequestForm, labelOf, objectOf, SchemaFields } from '../../../src/ui/kit/schema-form';
import type { Schema, Typed } from '../../../src/ui/kit/schema-form';
import { useSchema } from '../../../src/ui/store/schemas';
import { Daemon, refusal } from '../support/daemon.ts';
import { description, deref, operations } from '../support/description.ts';
import type { Json } from '../support/description.ts';
import { all, leave, one, press, show, textOf, tick, type } from '../support/page.tsx';
import { settle } from '../support/settle.ts';
import { bodyObjections, objections } from '../support/validator.ts';

/** The object that the fields make at present. */
let body: Record<string, unknown>;

function Fields({ schema, start = {} }: { readonly schema: Schema; readonly start?: Typed }) {
  const [typed, setTyped] = useState<Typed>({});
  body = objectOf(schema, typed);
  const put = (pointer: string, text: string | null) => setTyped((before) => ({ ...before, [pointer]: text }));
  return (
    <SchemaFields
      schema={schema}
      typed={typed}
      start={start}
      onTyped={put}
      onNone={(pointer) => put(pointer, null)}
      issueOf={(pointer) => (pointer === '/refused' ? 'is refused' : null)}
    />
  );
}

function DescribedFields({ name }: { readonly name: string }) {
  const { schema } = useSchema(name);
  return schema ? <Fields schema={schema} /> : null;
}

/** Enters a value as a user does, by the controls that the page has for it. */
async function enter(pointer: string, value: Json): Promise<void> {
  if (value === null) return tick(`${pointer}/none`, true);
  const field = document.querySelector(`[name="${pointer}"]`);
  if (field?.tagName === 'TEXTAREA') return type(pointer, typeof value === 'string' ? value : JSON.stringify(value));
  if (field !== null) return type(pointer, Array.isArray(value) ? value.join(', ') : String(value));
  if (Array.isArray(value)) for (const each of value) await tick(`${pointer}/${each}`, true);
  else for (const [name, member] of Object.entries(value)) await enter(`${pointer}/${name}`, member);
}

const nameOf = (schema: Json): string | undefined => schema?.$ref?.split('/').at(-1);

describe('fields of the schemas of the API', () => {
  beforeEach(() => new Daemon());
  afterEach(leave);

  for (const operation of operations) {
    const name = nameOf(operation.bodySchema);
    // one of several bodies is no form: faults have one for each kind, see below
    if (name === undefined || deref(operation.bodySchema).properties === undefined) continue;
    it(`make the body of ${operation.path}`, async () => {
      await show(<DescribedFields name={name} />);
      for (const [member, value] of Object.entries(operation.bodyExample)) await enter(`/${member}`, value);
      expect(body).to.deep.equal(operation.bodyExample);
      expect(bodyObjections(operation, body)).to.deep.equal([]);
    });
  }
});

/** Texts that a user may type for a member, by its schema; none where only an example of a text fits. */
function textsFor(schema: Json): readonly string[] {
  const own = deref(schema);
  if (own.anyOf ?? own.oneOf) return (own.anyOf ?? own.oneOf).flatMap((each: Json) => textsFor(each));
  if (own.enum) return own.enum.filter((each: Json) => each !== null).map(String);
  if (own.items) {
    const items = textsFor(own.items).slice(0, own.maxItems);
    const isSimple = !/object|array/.test(JSON.stringify(deref(own.items).type ?? 'object'));
    return isSimple && items.length >= (own.minItems ?? 1) && !items.some((item) => item.includes(','))
      ? [items.join(',')]
      : [];
  }
  const types: readonly string[] = [own.type].flat();
  if (types.includes('boolean')) return ['true', 'false'];
  if (types.includes('integer') || types.includes('number')) {
    const [min, max] = [own.minimum ?? Number(own.exclusiveMinimum ?? -1) + 1, own.maximum ?? 7];
    return [min, max].map(String);
  }
  if (types.includes('string') && (own.pattern ?? own.format ?? own.maxLength) === undefined) return ['some text'];
  return own.properties && own.example ? [JSON.stringify(own.example)] : [];
}

describe('members of the schemas of the API', () => {
  const read = new Map<string, Schema>();

  function Read({ name }: { readonly name: string }) {
    const { schema } = useSchema(name);
    if (schema) read.set(name, schema);
    return null;
  }

  const requests = new Set(operations.map(({ bodySchema }) => nameOf(bodySchema)).filter((name) => name !== undefined));
  const faults = Object.entries(description.components.schemas).filter(
    ([, { properties = {} }]) => properties.protocol?.enum?.length === 1 && properties.kind?.enum?.length === 1,
  );
  const names = [...requests, ...faults.map(([name]) => name)];

  before(async () => {
    new Daemon();
    await show(
      <>
        {names.map((name) => (
          <Read key={name} name={name} />
        ))}
      </>,
    );
    await leave();
  });

  it('are read for each request and each kind of fault', () => {
    expect([...read.keys()]).to.have.members(names);
    expect(faults.length).to.be.above(50);
  });

  it('take what is typed by their type', () => {
    const wrong: string[] = [];
    let count = 0;
    const judge = (where: string, schema: Json, typedAt: string, object: Record<string, unknown>, text: string) => {
      count += 1;
      const member = typedAt.split('/').at(-1) ?? '';
      for (const objection of objections(schema, object[member])) wrong.push(`${where} "${text}": ${objection}`);
    };
    for (const [name, schema] of read) {
      for (const [member, described] of Object.entries<Json>(
        deref(description.components.schemas[name]).properties ?? {},
      )) {
        const pointer = `/${member}`;
        const isGroup = deref(described).properties !== undefined;
        for (const text of isGroup ? [] : textsFor(described))
          judge(`${name}${pointer}`, described, pointer, objectOf(schema, { [pointer]: text }), text);
        for (const [inner, each] of Object.entries<Json>(isGroup ? deref(described).properties : {}))
          for (const text of textsFor(each)) {
            const group = objectOf(schema, { [`${pointer}/${inner}`]: text })[member];
            judge(`${name}${pointer}/${inner}`, each, inner, group as Record<string, unknown>, text);
          }
      }
    }
    expect(wrong).to.deep.equal([]);
    expect(count).to.be.above(1000);
  });
});

describe('object of typed texts', () => {
  const schema: Schema = {
    properties: {
      count: { type: 'integer' },
      name: { type: 'string' },
      on: { type: 'boolean' },
      mode: { enum: ['slow', 'fast', null] },
      level: { enum: [1, 2], type: 'integer' },
      list: { type: 'array', items: { type: 'number' } },
      oneOrMore: { anyOf: [{ type: 'integer' }, { type: 'array', items: { type: 'integer' } }] },
      words: { type: 'array', items: { enum: ['a', 'b', 'c'] } },
      either: { anyOf: [{ type: 'number' }, { type: 'string' }] },
      points: { type: 'array', items: { properties: { x: { type: 'number' } } } },
      group: { properties: { inner: { type: 'number' }, deep: { properties: { x: { type: 'number' } } } } },
    },
  };
  const of = (typed: Typed) => objectOf(schema, typed);

  it('leaves out what is empty, and groups without a member', () => {
    expect(of({})).to.deep.equal({});
    expect(of({ '/count': '', '/group/inner': '' })).to.deep.equal({});
  });

  it('has null where null was chosen', () => expect(of({ '/count': null })).to.deep.equal({ count: null }));

  it('has numbers, and leaves a text that is none to the daemon', () => {
    expect(of({ '/count': '12' })).to.deep.equal({ count: 12 });
    expect(of({ '/count': '-0.5e3' })).to.deep.equal({ count: -500 });
    expect(of({ '/count': 'many' })).to.deep.equal({ count: 'many' });
    expect(of({ '/count': ' ' })).to.deep.equal({ count: ' ' });
    expect(of({ '/count': 'Infinity' })).to.deep.equal({ count: 'Infinity' });
    expect(of({ '/level': '2' })).to.deep.equal({ level: 2 });
  });

  it('keeps a text a text, also one of digits', () => {
    expect(of({ '/name': '007' })).to.deep.equal({ name: '007' });
    expect(of({ '/name': 'true' })).to.deep.equal({ name: 'true' });
    expect(of({ '/either': '7' })).to.deep.equal({ either: 7 });
    expect(of({ '/either': 'x' })).to.deep.equal({ either: 'x' });
  });

  it('has true and false', () => {
    expect(of({ '/on': 'true' })).to.deep.equal({ on: true });
    expect(of({ '/on': 'false' })).to.deep.equal({ on: false });
  });

  it('has lists of what stands between commas', () => {
    expect(of({ '/list': '1, 2.5,,3 ' })).to.deep.equal({ list: [1, 2.5, 3] });
    expect(of({ '/words': 'a,c' })).to.deep.equal({ words: ['a', 'c'] });
  });

  it('sends one value without an array where that is allowed', () => {
    expect(of({ '/oneOrMore': '4' })).to.deep.equal({ oneOrMore: 4 });
    expect(of({ '/oneOrMore': '4,5' })).to.deep.equal({ oneOrMore: [4, 5] });
  });

  it('reads JSON of deeper values, and leaves what is none to the daemon', () => {
    expect(of({ '/points': '[{"x": 1}]' })).to.deep.equal({ points: [{ x: 1 }] });
    expect(of({ '/points': '[{' })).to.deep.equal({ points: '[{' });
  });

  it('has groups', () => {
    expect(of({ '/group/inner': '1', '/group/deep': '{"x":2}' })).to.deep.equal({
      group: { inner: 1, deep: { x: 2 } },
    });
  });
});

describe('look of the fields of a schema', () => {
  afterEach(leave);

  it('has name, unit and whether it is required', async () => {
    await show(<Fields schema={{ properties: { delay_ms: { type: 'number' } }, required: ['delay_ms'] }} />);
    expect(textOf('.field span')).to.equal('Delay, ms (required)');
    expect(labelOf('phase_a', { type: 'string' })).to.equal('Phase a');
    expect(labelOf('x', { title: 'Speed', unit: 'rpm', type: 'number' })).to.equal('Speed, rpm');
  });

  it('says range, default, commas and JSON', async () => {
    const properties: Record<string, Schema> = {
      power_kw: { type: 'number', minimum: -5, maximum: 5, default: 1.5, description: 'Unit: kW. Of the `stack`.' },
      ids: { type: 'array', items: { type: 'integer' } },
      points: { type: 'array', items: { type: 'object' } },
      group: { properties: { deep: { properties: { x: { type: 'number' } } } } },
    };
    await show(<Fields schema={{ properties }} />);
    expect(all('small').map((each) => each.textContent)).to.deep.equal([
      'Of the stack. From -5 to 5.',
      'Separate several values by commas.',
      'As JSON.',
      'As JSON.',
    ]);
    const { placeholder, min, max } = one('[name="/power_kw"]');
    expect({ placeholder, min, max }).to.deep.equal({ placeholder: '1.5', min: '-5', max: '5' });
  });

  it('offers an empty choice unless there is a value', async () => {
    const schema: Schema = { properties: { mode: { enum: ['run_fast', 'stop'] }, on: { type: 'boolean' } } };
    const optionsOf = (name: string) => all(`[name="${name}"] option`).map((each) => each.textContent);
    await show(<Fields schema={schema} />);
    expect(optionsOf('/mode')).to.deep.equal(['', 'run fast', 'stop']);
    expect(optionsOf('/on')).to.deep.equal(['', 'yes', 'no']);
    await show(<Fields schema={schema} start={{ '/mode': 'stop' }} />);
    expect(optionsOf('/mode')).to.deep.equal(['run fast', 'stop']);
    expect(one('[name="/mode"]').value).to.equal('stop');
  });

  it('offers none for what may be null, and takes it back', async () => {
    await show(<Fields schema={{ properties: { limit_kw: { type: ['number', 'null'] }, w: { type: 'number' } } }} />);
    expect(all('[name$="/none"]')).to.have.lengthOf(1);
    await tick('/limit_kw/none', true);
    expect(body).to.deep.equal({ limit_kw: null });
    await tick('/limit_kw/none', false);
    expect(body).to.deep.equal({});
  });

  it('keeps the order of choices as the API has it', async () => {
    await show(<Fields schema={{ properties: { days: { type: 'array', items: { enum: ['mon', 'tue', 'wed'] } } } }} />);
    await tick('/days/wed', true);
    await tick('/days/mon', true);
    expect(body).to.deep.equal({ days: ['mon', 'wed'] });
    await tick('/days/wed', false);
    expect(body).to.deep.equal({ days: ['mon'] });
  });

  it('has an objection at its field', async () => {
    await show(<Fields schema={{ properties: { refused: { type: 'number' }, other: { type: 'number' } } }} />);
    expect(all('.issue').map((each) => each.textContent)).to.deep.equal(['is refused']);
    expect(one('[name="/refused"]').getAttribute('aria-invalid')).to.equal('true');
    expect(one('[name="/other"]').getAttribute('aria-invalid')).to.equal('false');
  });
});

describe('form of a request', () => {
  const schema: Schema = { properties: { rate: { type: 'number' }, name: { type: 'string' } } };
  let daemon: Daemon;

  beforeEach(async () => {
    daemon = new Daemon();
    await show(
      <RequestForm
        schema={schema}
        submit="Send"
        under="/inject/0"
        call={(inject) => anyCall('POST', 'faults', {}, { inject: [inject] })}
      />,
    );
  });

  afterEach(leave);

  it('sends what was typed, and says that it is done until something else is typed', async () => {
    daemon.on('POST faults', () => ({}));
    await type('/rate', '3');
    await press('Send');
    expect(daemon.to('POST faults')[0]?.body).to.deep.equal({ inject: [{ rate: 3 }] });
    expect(textOf('[role=status]')).to.equal('done');
    await type('/name', 'x');
    expect(all('[role=status]')).to.deep.equal([]);
  });

  it('has the objection at the member of the body that its fields stand for', async () => {
    daemon.on('POST faults', () =>
      refusal(400, 'One member is wrong.', [{ in: 'body', name: '/inject/0/rate', detail: 'too fast' }]),
    );
    await press('Send');
    expect(all('.issue').map((each) => each.closest('.field')?.querySelector('span')?.textContent)).to.deep.equal([
      'Rate',
    ]);
    expect(textOf('.problem')).to.equal('One member is wrong.');
  });

  it('does not send a text in a number field, which the browser gives as empty', async () => {
    Object.defineProperty(one('[name="/rate"]'), 'validity', { value: { badInput: true } });
    await press('Send');
    await settle();
    expect(daemon.to('POST faults')).to.deep.equal([]);
  });
});
