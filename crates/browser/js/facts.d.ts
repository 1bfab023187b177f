/** The types of what survey.js finds out about controls. The compiler reads them; nothing of this file reaches a page. */

/** The facts about one control from which tools are proposed. Rust reads them in introspect/facts.rs. */
interface ControlFacts {
  n: number;
  role: string;
  name: string;
  heading: string;
  group: number;
  hint?: string;
  disabled?: boolean;
  on?: boolean;
  acts?: boolean;
  popup?: boolean;
  submit?: boolean;
  pressable?: boolean;
  expandable?: boolean;
}

/** What is known of a control that takes a value. */
interface FieldFacts extends Partial<Record<FieldLimit, string>> {
  field: string;
  before?: string;
  placeholder?: string;
  description?: string;
  key?: string;
  required?: boolean;
  fixed?: boolean;
  secret?: boolean;
  options?: OptionFacts[];
  moreOptions?: number;
  value?: string | string[] | boolean;
}

type FieldLimit = "min" | "max" | "step" | "pattern" | "minLength" | "maxLength";
type OptionFacts = { text: string; n?: number; disabled?: boolean; empty?: boolean };
