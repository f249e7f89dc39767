import { strict as assert } from 'node:assert';
import { sfdiOf } from '../../../src/contract/csip-identity.ts';
import { control, lfdi, paged, sfdi, WalkRig } from './scripted.ts';

describe('csip/walk', () => {
  it('reads DeviceCapability, Time, EndDevice, groups, programs, controls and defaults in this order', async () => {
    const rig = new WalkRig();
    rig.server.controls('/derp/1', [control('0a01')]);
    rig.server.resources.set('/derp/1/dderc', {
      name: 'DefaultDERControl',
      value: { mRID: 'dd', DERControlBase: { opModMaxLimW: 9000 }, setGradW: 100 },
    });
    await rig.start();
    assert.deepEqual(
      [...new Set(rig.server.asked())],
      ['/dcap', '/tm', '/edev', '/edev/1/fsa', '/edev/1/fsa/1/derp', '/derp/1/dderc', '/derp/1/derc'],
    );
    assert.deepEqual(rig.stages, ['discovering', 'running']);
    assert.equal(rig.facts[0]?.url, 'https://head-end/edev/1');
    const { program } = rig;
    assert.equal(program.listed.key, '0A1');
    assert.deepEqual(program.fsaUrls, ['https://head-end/edev/1/fsa/1']);
    assert.equal(program.listed.defaultControl?.control.settings?.setGradW, 100);
    const [listed] = rig.controls;
    assert.equal(listed?.mrid, '0A01');
    assert.equal(listed.replyTo, 'https://head-end/rsp/1');
    assert.deepEqual([listed.startS, listed.durationS, listed.responseRequired], [2000, 600, 3]);
    assert.deepEqual(listed.modes, ['opModMaxLimW']);
  });

  it('finds its EndDevice on the second page of a list whose link says all="0", and by its sFDI', async () => {
    const rig = await new WalkRig().start();
    assert.equal(rig.facts.length > 0, true);
    const bySfdi = new WalkRig();
    bySfdi.server.endDevice({ lFDI: undefined, sFDI: sfdi });
    await bySfdi.start();
    assert.equal(bySfdi.facts.at(-1)?.document.sFDI, sfdi);
  });

  it('reads all pages of controls of a server that gives three at once, and again from 0 when all changes', async () => {
    const rig = new WalkRig();
    const controls = Array.from({ length: 10 }, (_, at) => control(`B${at}`));
    rig.server.controls('/derp/1', controls, 3);
    await rig.start();
    assert.deepEqual(
      rig.controls.map(({ mrid }) => mrid),
      controls.map((_, at) => `B${at}`),
    );
    // one control joins in front while the second page is read
    const first = controls.slice(0, 3);
    let pages = 0;
    rig.server.resources.set('/derp/1/derc', (_request, query) => {
      pages += 1;
      const all = pages === 1 ? controls : [control('NEW'), ...controls];
      const start = Number(query.get('s'));
      const page = pages === 1 ? first : all.slice(start, start + 6);
      return { name: 'DERControlList', value: { all: all.length, results: page.length, DERControl: page } };
    });
    await rig.server.pass(80);
    assert.deepEqual(
      rig.controls.map(({ mrid }) => mrid),
      ['NEW', ...controls.map((_, at) => `B${at}`)],
    );
  });

  it('stops at 4,000 controls, tells it once, and at a server that gives its first page again and again', async () => {
    const rig = new WalkRig();
    const many = Array.from({ length: 10_500 }, (_, at) => control(at.toString(16).padStart(6, '0')));
    rig.server.controls('/derp/1', many);
    await rig.start();
    assert.equal(rig.controls.length, 4_000);
    await rig.walk.poll();
    assert.deepEqual(rig.warnings, ['more than 4000 DERControls: the last ones are left out']);
    const stuck = new WalkRig();
    stuck.server.resources.set('/derp/1/derc', {
      name: 'DERControlList',
      value: { all: 50, results: 1, DERControl: [control('0B')] as never },
    });
    await stuck.start();
    assert.equal(stuck.controls.length, 1);
    assert.equal(stuck.server.requests.filter(({ path }) => path === '/derp/1/derc').length, 2);
  });

  it('follows the time of the server, keeps the clock within a second, and warns once of a big offset', async () => {
    const rig = new WalkRig();
    rig.server.aheadS = 3600;
    await rig.start();
    assert.equal(rig.remoteClock.offsetS, 3600);
    rig.server.wall.advance(700);
    await rig.walk.poll();
    // the whole seconds of the second Time agree with the clock, which stays
    assert.equal(rig.remoteClock.offsetS, 3600);
    rig.server.aheadS = 7200;
    await rig.walk.poll();
    assert.ok(Math.abs(rig.remoteClock.offsetS - 7200) <= 1);
    assert.equal(rig.warnings.filter((line) => line.includes('ahead of that of this machine')).length, 1);
  });

  it('goes on with the last offset when Time fails or has no currentTime', async () => {
    const rig = new WalkRig();
    rig.server.aheadS = 10;
    await rig.start();
    rig.server.resources.set('/tm', 500);
    await rig.walk.poll();
    rig.server.resources.set('/tm', { name: 'Time', value: { quality: 7 } });
    await rig.walk.poll();
    assert.equal(rig.remoteClock.offsetS, 10);
    assert.equal(rig.walk.stage, 'running');
  });

  it('takes the time of this machine where that of the server is not wanted, also later', async () => {
    const rig = new WalkRig();
    rig.server.aheadS = 3600;
    await rig.start();
    rig.conduct.useServerTime = false;
    await rig.walk.poll();
    assert.equal(Math.round(rig.remoteClock.offsetS ?? NaN), 0);
  });

  it('waits as long as the server asks for (Retry-After)', async () => {
    const rig = new WalkRig();
    rig.server.retryAfterMs = 120_000;
    rig.server.resources.set('/tm', 503);
    await rig.start();
    await rig.server.pass(119);
    assert.equal(rig.server.instants('/tm').length, 1);
    await rig.server.pass(2);
    assert.equal(rig.server.instants('/tm').length, 2);
  });

  it('waits as long as the server asks for below a list of programs', async () => {
    const rig = new WalkRig();
    rig.server.retryAfterMs = 50_000;
    rig.server.resources.set('/derp/1/derc', 503);
    await rig.start();
    await rig.server.pass(49);
    assert.equal(rig.server.instants('/derp/1/derc').length, 1);
    await rig.server.pass(2);
    assert.equal(rig.server.instants('/derp/1/derc').length, 2);
  });

  it('asks for lists that are refused at the poll rate, not faster', async () => {
    const rig = new WalkRig();
    rig.server.resources.set('/edev/1/fsa', 403);
    await rig.start();
    await rig.server.pass(890, 10);
    assert.equal(rig.server.instants('/edev/1/fsa').length, 1);
    rig.server.resources.set('/edev/1/fsa', rig.server.groups(['/edev/1/fsa/1/derp']));
    await rig.server.pass(300, 10);
    assert.equal(rig.programs.at(-1)?.length, 1);
  });

  it('polls at the rates of the server, follows a changed rate, and uses 900 s where there is none', async () => {
    const rig = new WalkRig();
    await rig.start();
    const first = rig.server.instants('/edev/1/fsa/1/derp').length;
    assert.equal(first, 1);
    await rig.server.pass(400);
    const gaps = rig.server.instants('/edev/1/fsa/1/derp').slice(1);
    for (let at = 1; at < gaps.length; at++) assert.equal(gaps[at]! - gaps[at - 1]!, 60);
    assert.ok(gaps[0]! >= 60 && gaps[0]! <= 75, `the first gap is ${gaps[0]} s`);
    rig.server.programs('/edev/1/fsa/1/derp', [{ path: '/derp/1', primacy: 1 }], 20);
    await rig.server.pass(100);
    rig.server.requests.length = 0;
    await rig.server.pass(100);
    const quicker = rig.server.instants('/edev/1/fsa/1/derp');
    assert.deepEqual(quicker.slice(0, 4), [0, 20, 40, 60]);
    assert.equal(rig.walk.pollRatesS['EndDeviceList'], 900);
    assert.equal(rig.walk.pollRatesS['Time'], 300);
  });

  it('takes the poll rate of the setting in place of that of the server', async () => {
    const rig = new WalkRig();
    rig.conduct.pollRateS = 5;
    await rig.start();
    assert.deepEqual([...new Set(Object.values(rig.walk.pollRatesS))], [5]);
  });

  it('keeps the controls of a program whose list cannot be read, and says undefined for what it never read', async () => {
    const rig = new WalkRig();
    rig.server.resources.set('/derp/1/derc', 503);
    await rig.start();
    const { controls, defaultControl } = rig.program.listed;
    assert.deepEqual([controls, defaultControl], [undefined, null]);
    rig.server.controls('/derp/1', [control('0A01')]);
    await rig.server.pass(5);
    assert.equal(rig.controls.length, 1);
    const { controlsReadMs } = rig.program.listed;
    rig.server.resources.set('/derp/1/derc', 'cut');
    rig.server.resources.set('/derp/1/dderc', 'cut');
    await rig.server.pass(80);
    assert.equal(rig.controls.length, 1);
    assert.equal(typeof controlsReadMs, 'number');
    assert.equal(rig.program.listed.controlsReadMs, controlsReadMs);
    rig.server.resources.set('/derp/1/derc', 404);
    await rig.server.pass(80);
    assert.deepEqual(rig.controls, []);
  });

  it('tells no programs before each list was tried, and groups that join and leave at run time', async () => {
    const rig = new WalkRig();
    const lists = Array.from({ length: 17 }, (_, at) => `/edev/1/fsa/${at + 1}/derp`);
    lists.forEach((list, at) => rig.server.programs(list, [{ path: `/derp/${at + 1}`, primacy: at }]));
    rig.server.resources.set('/edev/1/fsa', rig.server.groups(lists, {}, 30));
    await rig.start();
    assert.equal(rig.programs.length, 1);
    assert.equal(rig.last.length, 17);
    rig.server.resources.set('/edev/1/fsa', rig.server.groups(lists.slice(0, 2), {}, 30));
    await rig.server.pass(40);
    assert.equal(rig.last.length, 2);
    rig.server.requests.length = 0;
    await rig.server.pass(200);
    assert.equal(
      rig.server.requests.some(({ path }) => path === lists[5]),
      false,
    );
  });

  it('resolves the curves of the modes once, and gives null for one that cannot be read', async () => {
    const rig = new WalkRig();
    const base = { opModVoltVar: { href: '/curve/1' }, opModVoltWatt: { href: '../curve/2' } };
    rig.server.controls('/derp/1', [control('0A01', { DERControlBase: base }), control('0A02')]);
    rig.server.resources.set('/curve/1', { name: 'DERCurve', value: { mRID: 'C1', curveType: 11 } });
    await rig.start();
    const [first, second] = rig.controls;
    assert.equal(first?.control.curves.get('/curve/1')?.curveType, 11);
    assert.equal(first.control.curves.get('../curve/2'), null);
    assert.equal(second?.control.curves.size, 0);
    await rig.server.pass(80);
    assert.equal(rig.server.requests.filter(({ path }) => path === '/curve/1').length, 1);
  });

  it('forgets the curves that no control uses any more, so that a server cannot fill the memory with them', async () => {
    const rig = new WalkRig();
    rig.server.resources.set('/curve/1', { name: 'DERCurve', value: { mRID: 'C1', curveType: 11 } });
    const asked = () => rig.server.requests.filter(({ path }) => path === '/curve/1').length;
    const curved = control('0A01', { DERControlBase: { opModVoltVar: { href: '/curve/1' } } });
    rig.server.controls('/derp/1', [curved]);
    await rig.start();
    await rig.walk.poll();
    assert.equal(asked(), 1);
    rig.server.controls('/derp/1', []);
    await rig.walk.poll();
    rig.server.controls('/derp/1', [curved]);
    await rig.walk.poll();
    assert.equal(asked(), 2);
  });

  describe('registration', () => {
    it('posts the EndDevice once and reads the list again', async () => {
      const rig = new WalkRig();
      rig.conduct.register = true;
      const own = rig.server.resources.get('/edev')!;
      let there = false;
      rig.server.resources.set('/edev', (request, query) => {
        if (request.method === 'POST') {
          there = true;
          return 201;
        }
        if (there) return typeof own === 'function' ? own(request, query) : own;
        return { name: 'EndDeviceList', value: { all: 0, results: 0 } };
      });
      await rig.start();
      const posts = rig.server.requests.filter(({ method }) => method === 'POST');
      assert.equal(posts.length, 1);
      const [{ body }] = posts as [(typeof posts)[number]];
      assert.ok(body?.name === 'EndDevice');
      assert.equal(body.value.lFDI, lfdi);
      assert.equal(body.value.sFDI, sfdi);
      assert.equal(body.value.deviceCategory, '200000');
      assert.deepEqual(rig.stages, ['discovering', 'registering', 'running']);
    });

    it('posts again after an answer that may pass', async () => {
      const rig = new WalkRig();
      rig.conduct.register = true;
      rig.conduct.pollRateS = 60;
      rig.server.resources.set('/edev', ({ method }) =>
        method === 'POST' ? 503 : { name: 'EndDeviceList', value: { all: 0, results: 0 } },
      );
      await rig.start();
      await rig.server.pass(200, 10);
      assert.ok(rig.server.requests.filter(({ method }) => method === 'POST').length >= 3);
    });

    it('does not post again after 403, and finds an EndDevice that was registered out of band', async () => {
      const rig = new WalkRig();
      rig.conduct.register = true;
      const own = rig.server.resources.get('/edev')!;
      rig.server.resources.set('/edev', 403);
      await rig.start();
      assert.equal(rig.walk.stage, 'registering');
      await rig.server.pass(3000, 10);
      assert.equal(rig.server.requests.filter(({ method }) => method === 'POST').length, 1);
      rig.server.resources.set('/edev', own);
      await rig.server.pass(1200, 10);
      assert.equal(rig.walk.stage, 'running');
      assert.equal(rig.last.length, 1);
    });

    for (const [state, list, reason] of [
      ['answers 404', 404, /404/],
      ['answers 403', 403, /403/],
      [
        'has no pollRate and does not show the EndDevice',
        { name: 'EndDeviceList', value: { all: 0, results: 0 } },
        null,
      ],
    ] as const)
      it(`asks for a list that ${state} at the rate of the DeviceCapability`, async () => {
        const rig = new WalkRig();
        const admitted = rig.server.resources.get('/edev')!;
        rig.server.resources.set('/dcap', {
          name: 'DeviceCapability',
          value: { pollRate: 5, TimeLink: { href: '/tm' }, EndDeviceListLink: { href: '/edev', all: 0 } },
        });
        rig.server.resources.set('/edev', list);
        await rig.start();
        assert.equal(rig.walk.stage, 'registering');
        const { refusal, retryInMs } = rig.walk.admission;
        if (reason) assert.match(refusal ?? '', reason);
        else assert.equal(refusal, null);
        assert.ok(retryInMs !== null && retryInMs > 4000 && retryInMs <= 6250, String(retryInMs));
        rig.server.resources.set('/edev', admitted);
        await rig.server.pass(7, 1);
        assert.equal(rig.walk.stage, 'running');
        // then the rate of the list counts
        assert.equal(rig.walk.pollRatesS['EndDeviceList'], 900);
      });

    it('ceases at a wrong PIN: nothing below the EndDevice is read, and nothing is asked any more', async () => {
      const rig = new WalkRig();
      rig.conduct.pin = 111115;
      rig.server.endDevice({ RegistrationLink: { href: '/edev/1/rg' }, DERListLink: { href: '/edev/1/der', all: 1 } });
      rig.server.resources.set('/edev/1/rg', { name: 'Registration', value: { pIN: 123455, dateTimeRegistered: 1 } });
      await rig.start();
      assert.equal(rig.refusals.length, 1);
      assert.equal(rig.refusals[0]?.includes('123455') || rig.refusals[0]?.includes('111115'), false);
      assert.deepEqual([rig.programs, rig.facts], [[], []]);
      rig.server.requests.length = 0;
      await rig.server.pass(4000, 10);
      assert.equal(rig.server.requests.length, 0);
    });

    it('ceases when a PIN that was right is another one later', async () => {
      const rig = new WalkRig();
      rig.conduct.pin = 111115;
      rig.server.endDevice({ RegistrationLink: { href: '/edev/1/rg' } });
      const registration = (pIN: number) => ({ name: 'Registration' as const, value: { pIN, pollRate: 60 } });
      rig.server.resources.set('/edev/1/rg', registration(111115));
      await rig.start();
      assert.equal(rig.last.length, 1);
      rig.server.resources.set('/edev/1/rg', registration(0));
      await rig.server.pass(100);
      assert.equal(rig.refusals.length, 1);
    });

    it('reads each list once after the Registration that admits the EndDevice', async () => {
      const rig = new WalkRig();
      rig.conduct.pin = 111115;
      rig.server.endDevice({ RegistrationLink: { href: '/edev/1/rg' }, DERListLink: { href: '/edev/1/der', all: 1 } });
      rig.server.resources.set('/edev/1/rg', { name: 'Registration', value: { pIN: 111115 } });
      await rig.start();
      const requested = rig.server.requests.map(({ path }) => path);
      for (const path of ['/edev/1/rg', '/edev/1/der', '/edev/1/fsa'])
        assert.equal(requested.filter((each) => each === path).length, 1, path);
    });

    it('waits for a Registration that cannot be read while a PIN is to be compared', async () => {
      const rig = new WalkRig();
      rig.conduct.pin = 111115;
      rig.server.endDevice({ RegistrationLink: { href: '/edev/1/rg' } });
      rig.server.resources.set('/edev/1/rg', 503);
      await rig.start();
      assert.equal(rig.walk.stage, 'registering');
      assert.equal(rig.programs.length, 0);
      rig.server.resources.set('/edev/1/rg', { name: 'Registration', value: { pIN: 111115 } });
      await rig.server.pass(10);
      assert.equal(rig.walk.stage, 'running');
      assert.equal(rig.last.length, 1);
    });

    it('waits for the PIN that a Registration lacks, without calling it another one, and says so', async () => {
      const rig = new WalkRig();
      rig.conduct.pin = 111115;
      rig.server.endDevice({ RegistrationLink: { href: '/edev/1/rg' } });
      const registration = (pIN?: number) => ({
        name: 'Registration' as const,
        value: { dateTimeRegistered: 1, pollRate: 60, ...(pIN !== undefined && { pIN }) },
      });
      const codes = () => rig.walk.remarks.map(({ code }) => code);
      rig.server.resources.set('/edev/1/rg', registration());
      await rig.start();
      assert.deepEqual([rig.walk.stage, rig.programs, rig.refusals], ['registering', [], []]);
      assert.deepEqual(codes(), ['registration-without-pin']);
      rig.server.resources.set('/edev/1/rg', registration(111115));
      await rig.server.pass(100);
      assert.deepEqual([rig.walk.stage, codes()], ['running', []]);
      rig.server.resources.set('/edev/1/rg', registration());
      await rig.server.pass(100);
      assert.deepEqual([rig.walk.stage, rig.refusals, codes()], ['running', [], ['registration-without-pin']]);
      assert.equal(rig.warnings.filter((line) => line.includes('no PIN')).length, 1);
      rig.server.resources.set('/edev/1/rg', registration(5));
      await rig.server.pass(100);
      assert.equal(rig.refusals.length, 1);
    });

    it('copes without RegistrationLink, or ceases where it was told to', async () => {
      const rig = new WalkRig();
      rig.conduct.pin = 111115;
      await rig.start();
      assert.equal(rig.walk.stage, 'running');
      const strict = new WalkRig();
      strict.conduct.pin = 111115;
      strict.conduct.withoutRegistration = 'stop';
      await strict.start();
      assert.equal(strict.refusals.length, 1);
      assert.equal(strict.programs.length, 0);
    });

    it('gives up an EndDevice that is not enabled, and takes it up again', async () => {
      const rig = new WalkRig();
      await rig.start();
      rig.server.endDevice({ enabled: false });
      await rig.walk.poll();
      assert.equal(rig.facts.at(-1), null);
      assert.equal(rig.walk.stage, 'registering');
      rig.server.endDevice({ enabled: true });
      await rig.walk.poll();
      assert.equal(rig.walk.stage, 'running');
    });
  });

  describe('loss', () => {
    it('asks for the DeviceCapability alone while the server is away, with growing waits, and walks again after it', async () => {
      const rig = new WalkRig();
      await rig.start();
      rig.server.cut = true;
      await rig.server.pass(100);
      assert.equal(rig.contacts.at(-1), 'none');
      rig.server.requests.length = 0;
      const told = rig.programs.length;
      await rig.server.pass(2000);
      const asked = rig.server.asked();
      assert.deepEqual([...new Set(asked)], ['/dcap']);
      assert.ok(asked.length >= 8 && asked.length < 60, `${asked.length} attempts in 2,000 s`);
      assert.equal(rig.programs.length, told);
      rig.server.cut = false;
      await rig.server.pass(320);
      assert.equal(rig.contacts.at(-1), 'contact');
      assert.ok(rig.server.asked().includes('/derp/1/derc'));
      assert.equal(rig.walk.stage, 'running');
    });

    it('reads the list of groups again when a list of programs is gone, and the list of EndDevices when the groups are', async () => {
      const rig = new WalkRig();
      await rig.start();
      rig.server.programs('/elsewhere', [{ path: '/derp/2', primacy: 3 }]);
      rig.server.resources.set('/edev/1/fsa', rig.server.groups(['/elsewhere']));
      rig.server.resources.delete('/edev/1/fsa/1/derp');
      await rig.server.pass(80);
      assert.deepEqual(
        rig.last.map(({ listed }) => listed.href),
        ['https://head-end/derp/2'],
      );
      rig.server.endDevice({ FunctionSetAssignmentsListLink: { href: '/groups' } });
      rig.server.resources.set('/groups', rig.server.groups([]));
      rig.server.resources.delete('/edev/1/fsa');
      await rig.server.pass(1200, 10);
      assert.deepEqual(rig.last, []);
    });

    it('takes the Time of an FSA for its events, and that of the server once it is stale', async () => {
      const rig = new WalkRig();
      rig.conduct.timeStaleS = 600;
      rig.server.resources.set(
        '/edev/1/fsa',
        rig.server.groups(['/edev/1/fsa/1/derp'], { TimeLink: { href: '/tm2' } }),
      );
      rig.server.resources.set('/tm2', () => ({
        name: 'Time',
        value: { currentTime: Math.floor(rig.server.wall.nowMs() / 1000) + 100, pollRate: 60 },
      }));
      rig.server.controls('/derp/1', [control('0A01')]);
      await rig.start();
      assert.equal(rig.controls[0]?.startS, 1900);
      rig.server.resources.set('/tm2', 500);
      await rig.server.pass(800, 5);
      assert.equal(rig.controls[0].startS, 2000);
    });
  });

  it('subscribes at the EndDevice of the connection wherever the list has it, with or without an LFDI', async () => {
    const ownLfdi = 'AB'.repeat(20);
    for (const identity of [{ lFDI: ownLfdi.toLowerCase() }, { sFDI: sfdiOf(ownLfdi) }]) {
      const rig = new WalkRig({ ownLfdi });
      const others = Array.from({ length: 1200 }, (_, i) => ({
        href: `/edev/o${i}`,
        lFDI: i.toString(16).padStart(40, '0'),
        sFDI: i + 1,
      }));
      const managed = { href: '/edev/1', lFDI: lfdi, sFDI: sfdi, subscribable: 1 };
      const own = { href: '/edev/own', ...identity, SubscriptionListLink: { href: '/edev/own/sub', all: 0 } };
      const list = [managed, ...others, own];
      rig.server.resources.set('/edev', paged('EndDeviceList', 'EndDevice', list, 255, { subscribable: 1 }));
      await rig.start();
      assert.deepEqual(
        rig.walk.subscribable.map(({ resource: { name }, listUrl }) => [name, listUrl]),
        [
          ['EndDeviceList', 'https://head-end/edev/own/sub'],
          ['EndDevice', 'https://head-end/edev/own/sub'],
        ],
      );
      assert.equal(rig.walk.seen.length, 1000);
    }
  });
});
