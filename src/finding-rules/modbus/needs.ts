/** Faults and conditions that the rules for masters of Modbus share. */

/** Faults that move models to where a master can find them. */
export const relocating = ['modbus.base', 'modbus.common_length_65', 'modbus.hide_model'] as const;
/** Faults of the chain of models, by which no master can find what has moved. */
export const misleading = ['modbus.model_length', 'modbus.shift', 'modbus.chain_end', 'modbus.model_id'] as const;
/** Faults that move the registers, so that a master may use places that were right before. */
export const moving = [...relocating, ...misleading] as const;
/** Faults that keep a write from its effect. */
export const holdingBack = [
  'modbus.ignore_write',
  'modbus.write_lock',
  'modbus.late_write',
  'modbus.alter_write',
  'modbus.partial_write',
  'modbus.exception',
] as const;
export const needsMap = ['sunspec'] as const;
export const needsTcp = ['tcp'] as const;
export const needsTls = ['tls'] as const;
