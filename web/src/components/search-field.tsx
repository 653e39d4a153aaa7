import { Search } from 'lucide-react'

interface SearchFieldProps {
  /** The label, for screen readers. */
  label: string
  value: string
  onChange: (value: string) => void
}

/** The small search field in a list's header. */
export const SearchField = ({ label, value, onChange }: SearchFieldProps) => (
  <label className="relative">
    <Search className="absolute top-1/2 left-2.5 size-3.5 -translate-y-1/2 text-faint" aria-hidden />
    <input
      type="search"
      aria-label={label}
      placeholder="Search"
      className="h-8 w-40 rounded-lg border border-line bg-bg pl-8 outline-none focus:border-accent sm:w-56"
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
  </label>
)
