//! Broken worlds: each is the example with one thing changed, and what is wrong with it is
//! said with file, line and why.

use camino::{Utf8Path, Utf8PathBuf};
use tempfile::TempDir;
use wildgym_tasks::world::World;

use super::{Blueprint, folder};

fn changed(file: &str, find: &str, replace: &str) -> (TempDir, Utf8PathBuf) {
    let held = tempfile::tempdir().unwrap();
    let root = Utf8Path::from_path(held.path()).unwrap().join("depot");
    std::fs::create_dir_all(root.join("operations")).unwrap();
    let files =
        ["world.toml", "schema.sql", "seed.sql", "operations/crm.toml", "operations/erp.toml"];
    for name in files {
        let mut text = std::fs::read_to_string(folder().join(name)).unwrap();
        if name == file {
            assert!(text.contains(find), "{file} has no {find}");
            text = text.replacen(find, replace, 1);
        }
        std::fs::write(root.join(name), text).unwrap();
    }
    (held, root)
}

fn faults(root: &Utf8Path) -> String {
    match World::load(root).and_then(|world| Blueprint::build(world, 0)) {
        Ok(_) => String::new(),
        Err(faults) => faults.to_string(),
    }
}

#[test]
fn every_fault_has_file_line_and_reason() {
    let crm = "operations/crm.toml";
    let erp = "operations/erp.toml";
    #[rustfmt::skip]
    let table = [
        ("schema.sql", "role TEXT NOT NULL CHECK", "role TEKST NOT NULL CHECK",
         "schema.sql:3: statement 1 (`CREATE TABLE users"),
        ("schema.sql", "FROM products;", "FORM products;", "near \"products\": syntax error"),
        ("schema.sql", "CREATE INDEX", "PRAGMA journal_mode = WAL;\nCREATE INDEX",
         "PRAGMA journal_mode is not allowed here"),
        ("schema.sql", "CREATE INDEX", "ATTACH 'x' AS y;\nCREATE INDEX", "ATTACH is not allowed here"),
        ("schema.sql", "PRIMARY KEY (order_id, product_id)\n) STRICT",
         "PRIMARY KEY (order_id, product_id)\n) STRICT, WITHOUT ROWID",
         "`order_lines` is WITHOUT ROWID"),
        ("seed.sql", "(4, 'crate', 2400, 0)", "(4, 'crate', 2400, -1)",
         "seed.sql:16: statement 4 (`INSERT INTO products (id, name, price_cents, stock) VALUES…`): \
          CHECK constraint failed: stock_never_negative"),
        ("seed.sql", "'CON-acme0001', 'shipped'", "'CON-acme0009', 'shipped'",
         "seed.sql: row 1 of `orders` names a row of `contacts` that does not exist"),
        ("seed.sql", "draw(100, 999)", "random()", "the function `random` is not allowed here"),
        (crm, "INTO contacts (id, name, company, email) VALUES", "INTO contacts (id, nmae) VALUES",
         "operations/crm.toml:6: operation[0].effects[0]: table contacts has no column named nmae"),
        (crm, ":company, :email)", ":company, :mail)",
         "operation[0].effects[0]: `:mail` is not declared"),
        (crm, "id = @user_id", "id = @user",
         "operation[3].precondition[0].sql: `@user` is not declared"),
        (crm, "`{contact_id}`", "`{contact}`",
         "operation[3].precondition[1].message: `{contact}` is neither an argument nor a column"),
        (crm, "DELETE FROM contacts WHERE", "DROP TABLE contacts; DELETE FROM contacts WHERE",
         "is not allowed here"),
        (crm, "name = \"find_contacts\"", "name = \"create_contact\"",
         "operation[1].name: `create_contact` is there already, in operations/crm.toml"),
        (crm, "required = [\"text\"]", "required = [\"txt\"]",
         "operation[1].parameters.required[0]: \"txt\" is no property"),
        (crm, "category = \"crm\"", "categry = \"crm\"", "did you mean `category`?"),
        (erp, "with = \"ship_order\"", "with = \"shp_order\"",
         "operation[2].conflict[0].with: `shp_order`: unknown operation; did you mean `ship_order`?"),
        (erp, "query = \"sql\"", "query = \"sequel\"", "`sequel` is no property of its parameters"),
        (erp, "SELECT state FROM orders", "UPDATE orders SET state = state",
         "operation[3].result: changing `orders` is not allowed here"),
        (erp, "shape = \"value\"", "shape = \"row\"\nexport = { path = \"order\", content = \"state\" }",
         "operation[3].export.path: `order` is no property of its parameters"),
        (erp, "shape = \"value\"", "shape = \"value\"\nexport = { path = \"order_id\", content = \"state\" }",
         "operation[3].export: expected a `result` of the shape `row`"),
        (erp, "shape = \"value\"", "shape = \"row\"\nexport = { path = \"order_id\", content = \"text\" }",
         "operation[3].export.content: `text` is no column of the result"),
        ("world.toml", "views = [\"order_report\"", "views = [\"order_reports\"",
         "world.toml:7: views[0]: no such table: order_reports"),
        ("world.toml", "name = \"depot\"", "name = \"deport\"",
         "world.toml:2: name: expected the folder's name, `depot`"),
        ("world.toml", ":quantity, 'delivery')", ":amount, 'delivery')",
         "event[0].effects[0]: `:amount` is not declared"),
        ("world.toml", "user_id = 2", "user_id = 2.5",
         "context.user_id: expected a text, a whole number, true or false"),
        ("world.toml", "format = 1", "format = 2", "world.toml:1: format: expected 1, found 2"),
    ];
    for (file, find, replace, want) in table {
        let (_held, root) = changed(file, find, replace);
        let found = faults(&root);
        assert!(found.contains(want), "{replace}:\n{found}\nexpected\n{want}");
    }
}

#[test]
fn the_example_is_sound_and_a_folder_without_one_says_so() {
    let (_held, root) = changed("world.toml", "format = 1", "format = 1");
    assert_eq!(faults(&root), "");
    let empty = tempfile::tempdir().unwrap();
    let found = faults(Utf8Path::from_path(empty.path()).unwrap());
    assert!(found.ends_with("no world: expected a folder with `world.toml`"), "{found}");
}
