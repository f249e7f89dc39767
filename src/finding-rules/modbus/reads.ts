/** Rules for masters of Modbus: reads of a SunSpec map. */
import type { RuleTable } from '../../core/findings/rule.ts';
import { moving, needsMap } from './needs.ts';

export const readRules = {
  exception_ignored_read: {
    severity: 'risk',
    basis: 'practice',
    clause: 'evcc issue 31630: one block that is refused blocks a poll',
    title: 'Registers that the device does not have are read again and again',
    situation: 'A read is refused with exception 2.',
    proof:
      'The peer read the same registers at least five times more, over more than a minute and with pauses of at most ten minutes.',
    consequence: 'The log fills, and the time of each poll is lost.',
    trap: 'Probes of at most three registers, and registers that were read with success in between, are right.',
    needs: needsMap,
    excusedBy: moving,
  },
  no_discovery: {
    severity: 'remark',
    basis: 'practice',
    clause: 'evcc issue 31630: another firmware moves the map',
    core: 'reading',
    title: 'Registers are used at fixed addresses',
    situation: 'The peer reads or writes data of a SunSpec map.',
    proof: 'It sent 20 such requests and has read no marker and no model id since this process started.',
    consequence: 'After an update of the device the peer reads and writes other points.',
    trap: 'A peer that found the models before this process started shows the same, so it is a remark only.',
    needs: needsMap,
    excusedBy: moving,
  },
  chain_end_passed: {
    severity: 'remark',
    basis: 'practice',
    clause: 'SunSpec Device Information Model Specification: the end model ends the chain; sunspec/models issue 44',
    title: 'A read goes past the end of the map',
    situation: 'The peer reads up to the end model.',
    proof: 'A read of more than three registers began in the map and ended behind the end model.',
    consequence: 'A device answers exception 2 for the whole block.',
    trap: 'Short reads are probes.',
    needs: needsMap,
    excusedBy: moving,
  },
  read_part_of_point: {
    severity: 'risk',
    basis: 'practice',
    clause: 'pysunspec2 issue 16: SunSpec clients must only read on point boundaries',
    core: 'reading',
    title: 'A read begins or ends inside a point',
    situation: 'The peer reads registers of a SunSpec map.',
    proof: 'The first or the last register is not that of a whole point.',
    consequence: 'A device refuses the whole read with exception 2.',
    trap: 'Reads across models are right, and so is one register of the marker.',
    needs: needsMap,
    excusedBy: moving,
  },
} as const satisfies RuleTable;
