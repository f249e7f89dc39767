import { expect } from 'chai';
import type { FaultKind } from '../../src/core/faults/kinds.ts';
import {
  falsifyFault,
  notImplementedFault,
  strictPointsFault,
  baseFault,
  chainEndFault,
  commonLength65Fault,
  hideModelFault,
  modelIdFault,
  modelLengthFault,
  shiftFault,
} from '../../src/fault-kinds/modbus-map.ts';
import { modbusEndpoint, startApp } from '../support/running-app.ts';
import type { RunningApp } from '../support/running-app.ts';
import { PeerError, PythonPeer, describeWith } from './support/peers.ts';

interface ScannedModel {
  readonly id: number;
  readonly length: number;
  readonly error: string;
}
interface Scanned {
  readonly base: number | null;
  readonly models: readonly ScannedModel[];
}

const chain = '1 701 702 703 704 705 706 707 708 709 710 711 712 713 714 715';

/** The models that a scan finds, with a mark at each that it complains about, and the error that ends it. */
async function scanned(master: PythonPeer): Promise<string> {
  let end = '';
  try {
    await master.ask('scan');
  } catch (error) {
    if (!(error instanceof PeerError)) throw error;
    const code = /Modbus exception (\d+)/.exec(error.message)?.[1];
    end =
      code === undefined || error.message.includes('base addresses')
        ? ` ${error.message.split(/\.| for /)[0] ?? ''}`
        : ` exception ${code}`;
  }
  const { base, models } = (await master.ask('found')) as Scanned;
  const found = models.map(({ id, error }) => (error === '' ? `${id}` : `${id}!`)).join(' ');
  return `${base === null ? 'nowhere' : base}: ${found}${end}`;
}

/** A model with a complaint of pysunspec2 (`error_info`) is marked by !. */
describeWith(['pysunspec2'], 'scans maps with faults', () => {
  let running: RunningApp;
  let master: PythonPeer;

  before(async () => {
    running = await startApp(['PV-3Phase']);
    master = new PythonPeer('sunspec_master', modbusEndpoint(running.app, 0).port);
  });
  after(async () => {
    await master.stop();
    await running.app.stop();
  });
  afterEach(() => {
    running.app.faults.clear();
  });

  const rows: readonly (readonly [FaultKind, Readonly<Record<string, unknown>>, string])[] = [
    [baseFault, { address: 0 }, `0: ${chain}`],
    [baseFault, { address: 50_000 }, `50000: ${chain}`],
    [baseFault, { address: 30_000 }, 'nowhere:  SunSpecModbusClientError: Error scanning SunSpec base addresses'],
    [commonLength65Fault, {}, `40000: ${chain}`],
    // with a wrong length it reads the next ID one register off
    [modelLengthFault, { model: 1, length: 65 }, '40000: 1 exception 2'],
    [
      modelLengthFault,
      { model: 702, length: 51 },
      "40000: 1 701 702! 17! error: 'H' format requires 0 <= number <= 65535",
    ],
    [modelLengthFault, { model: 714, length: 93 }, `40000: ${chain.replace(' 714 715', '')} exception 2`],
    // with a shift, the values at the places of ID and length decide where it reads next and which model it assumes
    [shiftFault, { model: 701, registers: 1 }, '40000: 1 exception 2'],
    [
      shiftFault,
      { model: 702, registers: 1 },
      '40000: 1 701 ModelError: Repeating group count not consistent with model length',
    ],
    [shiftFault, { model: 704, registers: 1 }, '40000: 1 701 702 703 exception 2'],
    [shiftFault, { model: 702, registers: 2 }, "40000: 1 701 error: 'H' format requires 0 <= number <= 65535"],
    [shiftFault, { model: 704, registers: 10 }, "40000: 1 701 702 703 error: 'H' format requires 0 <= number <= 65535"],
    [shiftFault, { model: 702, registers: -1 }, '40000: 1 701! exception 2'],
    [shiftFault, { model: 704, registers: -1 }, "40000: 1 701 702 703 error: 'H' format requires 0 <= number <= 65535"],
    [shiftFault, { model: 704, registers: -2 }, '40000: 1 701 702 703'],
    [shiftFault, { model: 704, registers: 2, fill: 65_535 }, '40000: 1 701 702 703'],
    [shiftFault, { model: 704, registers: 2, fill: 0 }, `40000: ${chain}`],
    // it takes zeros for a model without registers, and reads on
    [chainEndFault, { variant: 'zeros' }, `40000: ${chain} exception 2`],
    [chainEndFault, { variant: 'exception' }, `40000: ${chain} exception 2`],
    [chainEndFault, { variant: 'absent_length' }, `40000: ${chain}`],
    [hideModelFault, { model: 704 }, `40000: ${chain.replace('704 ', '')}`],
    [hideModelFault, { model: 1 }, `40000: ${chain.replace('1 ', '')}`],
    // it skips a model without a definition silently
    [modelIdFault, { model: 703, id: 64_900 }, `40000: ${chain.replace('703 ', '')}`],
    [modelIdFault, { model: 703, id: 701 }, `40000: ${chain.replace('703', '701!')}`],
    // it reads whole points only
    [strictPointsFault, {}, `40000: ${chain}`],
    [notImplementedFault, {}, `40000: ${chain}`],
    [falsifyFault, { switch: 'ChangeCommonModelID' }, `40000: ${chain.replace('1 ', '2! ')}`],
    [falsifyFault, { switch: 'ChangeCommonModelLength' }, '40000: 1!'],
  ];
  for (const [kind, parameters, expected] of rows) {
    it(`${kind.kind} ${JSON.stringify(parameters)}: ${expected}`, async () => {
      running.app.faults.inject([{ protocol: kind.protocol, kind: kind.kind, parameters }], {
        source: 'rest',
        peer: 'test',
      });
      expect(await scanned(master)).to.equal(expected);
      running.app.faults.clear();
      expect(await scanned(master)).to.equal(`40000: ${chain}`);
    });
  }
});
