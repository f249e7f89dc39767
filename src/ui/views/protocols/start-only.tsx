/** Settings of a protocol that only a start sets: as they are, with the reason and the command line for another value. */
import { CopyButton } from '../../kit/copies';
import { SettingInput } from '../../kit/settings';
import type { Setting } from '../../kit/settings';

/** A value other than the present one; of a text, a word in its place. */
function otherValue({ type, value, choices }: Setting): string {
  if (type === 'switch') return value === true ? 'no' : 'yes';
  return choices?.find((choice) => choice !== value) ?? 'VALUE';
}

/** `derbench start --mb_framing rtu_over_tcp` */
export const startCommand = (setting: Setting): string => `derbench start --${setting.key} ${otherValue(setting)}`;

const typesNothing = () => undefined;

/** @param settings of the protocol; those that change while the simulator runs are left out */
export function StartOnly({ settings }: { readonly settings: readonly Setting[] }) {
  const fixed = settings.filter(({ changes }) => changes === 'start');
  if (fixed.length === 0) return null;
  return (
    <section class="stack start-only" data-test="start-only">
      <h3>Only at a start</h3>
      {fixed.map((setting) => {
        const command = startCommand(setting);
        return (
          <div key={setting.key} class="stack" data-test={setting.key}>
            <fieldset class="fields" disabled title={setting.doc}>
              <SettingInput setting={setting} inputs={{}} onInput={typesNothing} certificates={[]} issue={null} />
            </fieldset>
            <small class="muted">{setting.why}</small>
            <span class="row">
              <code>{command}</code>
              <CopyButton text={command} name={`command for ${setting.key}`} />
            </span>
          </div>
        );
      })}
    </section>
  );
}
