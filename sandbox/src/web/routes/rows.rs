//! Rows of tables: the one that a request names, and the pages of many.

use std::collections::BTreeMap;

use minijinja::Value;
use minijinja::value::Serde;
use serde_json::Map;
use wildgym_tasks::environment::table::{Table, cell_text, compare};
use wildgym_tasks::environment::{Fits, List, OneRow};

type Row = Map<String, serde_json::Value>;

/// A table, and the same as templates see it.
#[derive(Debug)]
pub(super) struct Shown {
    table: Table,
    /// The rows as values, in order; a row without a column has nothing there.
    values: Vec<Value>,
}

impl Shown {
    /// Makes the values once, so that a request only points to them.
    pub(super) fn new(table: Table) -> Self {
        let whole = |row: &Row| {
            let cell = |name: &String| row.get(name).unwrap_or(&serde_json::Value::Null);
            Value::from_pairs(
                table.columns.iter().map(|name| (name.as_str(), Value::from(Serde(cell(name))))),
            )
        };
        let values = table.rows.iter().map(whole).collect();
        Self { table, values }
    }

    /// Returns all rows, for `tables.<name>`.
    pub(super) fn all(&self) -> Value {
        Value::from(self.values.clone())
    }

    /// Returns the texts of a column.
    pub(super) fn column<'t>(&'t self, name: &'t str) -> impl Iterator<Item = String> + 't {
        self.table.rows.iter().map(move |row| cell_text(row.get(name)))
    }

    /// Finds the first row whose column holds `wanted`.
    pub(super) fn find(&self, row: &OneRow, wanted: &str) -> Option<Value> {
        let at = self.column(&row.column).position(|cell| cell == wanted)?;
        self.values.get(at).cloned()
    }
}

/// What chooses the rows of a list: columns, how they fit, and the values of which one
/// must.
pub(super) struct Condition<'r> {
    /// The columns.
    pub(super) columns: Vec<&'r str>,
    /// How a cell fits.
    pub(super) how: Fits,
    /// The values.
    pub(super) values: Vec<String>,
}

impl Condition<'_> {
    fn holds(&self, row: &Row) -> bool {
        let fits = |cell: &str, value: &str| match self.how {
            Fits::Equals => cell == value || (!cell.is_empty() && compare(cell, value).is_eq()),
            Fits::Contains => cell.to_lowercase().contains(&value.to_lowercase()),
            Fits::From => compare(cell, value).is_ge(),
            Fits::To => compare(cell, value).is_le(),
        };
        let mut cells = self.columns.iter().map(|column| cell_text(row.get(*column)));
        cells.any(|cell| self.values.iter().any(|value| fits(&cell, value)))
    }
}

/// Why a page of a list cannot be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NoPage {
    /// A parameter has a value that it cannot have.
    Bad(String),
    /// There are fewer pages.
    Beyond(String),
}

/// Returns the names of the parameters by which a list is turned.
pub(super) fn turning(list: &List) -> Vec<&'static str> {
    let mut names = Vec::new();
    names.extend(list.page_size.map(|_| "page"));
    names.extend((!list.page_sizes.is_empty()).then_some("page_size"));
    names.extend((!list.sort.is_empty()).then_some("sort"));
    names
}

/// Makes `list`: the rows that fit, in order, on the page that the parameters ask for.
pub(super) fn page(
    list: &List,
    shown: &Shown,
    conditions: &[Condition<'_>],
    parameters: &BTreeMap<String, String>,
) -> Result<Value, NoPage> {
    let order = match parameters.get("sort").filter(|sort| !sort.is_empty()) {
        Some(sort) if list.sort.contains(sort) => Some(sort),
        Some(sort) => return Err(NoPage::Bad(format!("cannot sort by `{sort}`"))),
        None => list.order.as_ref(),
    };
    let rows = &shown.table.rows;
    let mut found: Vec<usize> = (0..rows.len())
        .filter(|at| conditions.iter().all(|condition| condition.holds(&rows[*at])))
        .collect();
    if let Some(order) = order {
        sort(&mut found, rows, order);
    }
    let size = match parameters.get("page_size").filter(|size| !size.is_empty()) {
        None => list.page_size,
        Some(size) => match size.parse().ok().filter(|size| list.page_sizes.contains(size)) {
            Some(size) => Some(size),
            None => return Err(NoPage::Bad(format!("`page_size` cannot be `{size}`"))),
        },
    };
    let page = match parameters.get("page").filter(|page| !page.is_empty()) {
        None => 1,
        Some(page) => match page.parse::<usize>() {
            Ok(page) if page > 0 => page,
            Ok(_) | Err(_) => {
                return Err(NoPage::Bad("`page` must be a whole number from 1".to_owned()));
            }
        },
    };
    let pages = size.map_or(1, |size| found.len().div_ceil(size).max(1));
    if page > pages {
        return Err(NoPage::Beyond(format!("there is no page {page}; the last is page {pages}")));
    }
    let size = size.unwrap_or(found.len());
    let on_page = found.iter().skip((page - 1) * size).take(size);
    let on_page: Vec<Value> = on_page.filter_map(|at| shown.values.get(*at).cloned()).collect();
    Ok(value(on_page, found.len(), (page, pages, size), order.map_or("", String::as_str)))
}

/// Returns a list without rows, for a request that is wrong.
pub(super) fn nothing() -> Value {
    value(Vec::new(), 0, (1, 1, 0), "")
}

fn value(rows: Vec<Value>, total: usize, turned: (usize, usize, usize), sort: &str) -> Value {
    let (page, pages, size) = turned;
    let or_none = |it: Option<usize>| it.map_or(Value::from(()), Value::from);
    Value::from_pairs([
        ("rows", Value::from(rows)),
        ("total", Value::from(total)),
        ("page", Value::from(page)),
        ("pages", Value::from(pages)),
        ("page_size", Value::from(size)),
        ("sort", Value::from(sort)),
        ("numbers", Value::from(numbers(page, pages).into_iter().map(or_none).collect::<Vec<_>>())),
        ("previous", or_none(page.checked_sub(1).filter(|page| *page > 0))),
        ("next", or_none((page < pages).then_some(page + 1))),
    ])
}

/// Returns the pages that a page links to: the first, the last, and two on each side; what
/// is left out between is `None`.
fn numbers(page: usize, pages: usize) -> Vec<Option<usize>> {
    let mut numbers = Vec::new();
    let mut last = 0;
    let near = page.saturating_sub(2)..=page.saturating_add(2);
    let all = std::iter::once(1).chain(near).chain([pages]);
    for number in all.filter(|number| (1..=pages).contains(number)) {
        if number <= last {
            continue;
        }
        if number > last + 1 {
            // A gap of one page is no gap: the page itself takes no more room.
            numbers.push((number == last + 2).then_some(last + 1));
        }
        numbers.push(Some(number));
        last = number;
    }
    numbers
}

fn sort(found: &mut [usize], rows: &[Row], order: &str) {
    let (column, down) = match order.strip_prefix('-') {
        Some(column) => (column, true),
        None => (order, false),
    };
    found.sort_by_cached_key(|at| Key(cell_text(rows[*at].get(column)), down));
}

/// A cell by which rows are sorted.
#[derive(PartialEq, Eq)]
struct Key(String, bool);

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|it| it.is_finite());
        // Numbers before texts, or cells of both kinds would have no order.
        let order = match (number(&self.0), number(&other.0)) {
            (Some(left), Some(right)) => left.total_cmp(&right),
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (None, None) => self.0.cmp(&other.0),
        };
        if self.1 { order.reverse() } else { order }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown() -> Shown {
        let csv = "id,port,fare\nT-1,Kelmouth,9\nT-2,Orrisay,10\nT-3,Kelmouth,8.5\nT-4,Ulveth,\nT-5,云岫,free\n";
        Shown::new(Table::read("t.csv", csv.as_bytes()).unwrap())
    }

    fn list() -> List {
        List {
            table: "t".to_owned(),
            page_size: Some(2),
            page_sizes: vec![2, 3],
            sort: vec!["fare".to_owned(), "-fare".to_owned()],
            order: None,
            filters: Vec::new(),
        }
    }

    fn ask(parameters: &[(&str, &str)], conditions: &[Condition<'_>]) -> Result<String, NoPage> {
        let parameters = parameters
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let list = page(&list(), &shown(), conditions, &parameters)?;
        let mut language = minijinja::Environment::new();
        language.add_template("t", "{% for row in l.rows %}{{ row.id }} {% endfor %}{{ l.page }}/{{ l.pages }} {{ l.total }} {{ l.previous }}-{{ l.next }}").unwrap();
        let context = minijinja::context! {l => list};
        Ok(language.get_template("t").unwrap().render(context).unwrap())
    }

    #[test]
    fn lists_turn_sort_and_end() {
        let bad = |text: &str| Err(NoPage::Bad(text.to_owned()));
        let table = [
            (vec![], Ok("T-1 T-2 1/3 5 None-2".to_owned()), "the first page"),
            (vec![("page", "3")], Ok("T-5 3/3 5 2-None".to_owned()), "the last"),
            (vec![("page", "")], Ok("T-1 T-2 1/3 5 None-2".to_owned()), "an empty field"),
            (
                vec![("page_size", "3"), ("sort", "fare")],
                Ok("T-3 T-1 T-2 1/2 5 None-2".to_owned()),
                "numbers",
            ),
            (
                vec![("sort", "-fare")],
                Ok("T-5 T-4 1/3 5 None-2".to_owned()),
                "down: texts, numbers",
            ),
            (vec![("page", "0")], bad("`page` must be a whole number from 1"), "from 1"),
            (vec![("page", "x")], bad("`page` must be a whole number from 1"), "no number"),
            (vec![("page_size", "999")], bad("`page_size` cannot be `999`"), "not offered"),
            (vec![("sort", "port")], bad("cannot sort by `port`"), "not offered"),
            (
                vec![("page", "4")],
                Err(NoPage::Beyond("there is no page 4; the last is page 3".to_owned())),
                "beyond",
            ),
            (
                vec![("page", "99999999999999999999999")],
                bad("`page` must be a whole number from 1"),
                "too large to be",
            ),
        ];
        for (parameters, want, why) in table {
            assert_eq!(ask(&parameters, &[]), want, "{why}");
        }
    }

    #[test]
    fn rows_are_chosen() {
        let condition = |columns: &[&'static str], how, value: &str| Condition {
            columns: columns.to_vec(),
            how,
            values: vec![value.to_owned()],
        };
        let table = [
            (condition(&["port"], Fits::Equals, "Kelmouth"), "T-1 T-3 1/1 2", "the same"),
            (condition(&["fare"], Fits::Equals, "9.0"), "T-1 1/1 1", "the same number"),
            (
                condition(&["id", "port"], Fits::Contains, "kel"),
                "T-1 T-3 1/1 2",
                "a part, in small letters",
            ),
            (condition(&["port"], Fits::Contains, "云"), "T-5 1/1 1", "Chinese"),
            (condition(&["fare"], Fits::To, "9"), "T-1 T-3 1/2 3", "an empty cell is below all"),
            (condition(&["fare"], Fits::Equals, ""), "T-4 1/1 1", "nothing"),
            (condition(&["port"], Fits::Equals, "nowhere"), "1/1 0", "none"),
        ];
        for (condition, want, why) in table {
            let got = ask(&[], &[condition]).unwrap();
            assert!(got.starts_with(want), "{why}: {got}");
        }
    }

    #[test]
    fn page_numbers_leave_out_the_middle() {
        let words = |page, pages| -> String {
            let all = numbers(page, pages).into_iter();
            all.map(|one| one.map_or("… ".to_owned(), |one| format!("{one} "))).collect()
        };
        let table = [
            (1, 1, "1 "),
            (1, 3, "1 2 3 "),
            (1, 9, "1 2 3 … 9 "),
            (5, 9, "1 2 3 4 5 6 7 8 9 "),
            (6, 20, "1 … 4 5 6 7 8 … 20 "),
            (20, 20, "1 … 18 19 20 "),
        ];
        for (page, pages, want) in table {
            assert_eq!(words(page, pages), want, "{page} of {pages}");
        }
    }
}
